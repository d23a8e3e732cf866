// The filter of the traffic page: a country or a network narrows the views and the map.

// Below this share of the requests a chart is hidden, as in geolookup/reports/traffic_views.py.
const LEAST_SHARE = 0.2;

class TrafficFilter {
  constructor(form, cube) {
    Object.assign(this, { form, cube });
    this.choice = form.querySelector("select");
    this.views = new Map();
    for (const figure of document.querySelectorAll(".view")) {
      this.views.set(figure.id, new TrafficView(figure));
    }
    this.choice.addEventListener("change", () => this.change());
    form.hidden = false;
  }

  change() {
    const [axis, number] = this.choice.value.split(" ").map(Number);
    if (this.choice.value) this.narrow([axis, number], this.choice.selectedOptions[0].textContent);
    else this.reset();
  }

  reset() {
    for (const view of this.views.values()) {
      view.reset();
      view.figure.hidden = false;
    }
    this.form.querySelector("output").textContent = "";
    this.narrowMaps(null);
  }

  narrow(choice, name) {
    const classes = this.cube.chosen(choice);
    const total = this.cube.sum(classes);
    const hidden = [];
    for (const [id, view] of this.views) {
      const rows = this.rows(id, view, choice, classes);
      const share = this.share(id, rows, total);
      view.figure.hidden = share < LEAST_SHARE;
      if (view.figure.hidden) hidden.push(view.title);
      else view.show(rows, name, percentText(share));
    }
    this.form.querySelector("output").textContent = this.message(name, total, hidden);
    this.narrowMaps(new Map(this.cube.groups(0, classes).map(([, key, own]) => [key, this.cube.sum(own)])));
  }

  message(name, total, hidden) {
    const said = `${viewCount.format(total)} requests of ${name}, without small groups.`;
    return hidden.length ? `${said} Too few for a chart: ${hidden.join("; ")}.` : said;
  }

  // Returns the part of the requests in rows; the first row of the view of status codes is the sum.
  share(id, rows, total) {
    const counted = id === "status-countries" ? rows.slice(0, 1) : rows;
    const sum = counted.flatMap(([, counts]) => counts).reduce((all, count) => all + count, 0);
    return Math.min(1, sum / total);
  }

  // Returns the rows of a view; none if it cannot be narrowed.
  rows(id, view, [axis, number], classes) {
    if (id === "requests-time") {
      return this.cube.columns("time", classes).map((count, at) => [view.labels[at], [count]]);
    }
    if (id === "hours") {
      if (!view.title.includes("local")) return [];
      const hours = this.cube.columns("hours", classes);
      return view.labels.map((day, at) => [day, hours.slice(24 * at, 24 * at + 24)]);
    }
    if (id === "hosting-share") {
      return this.cube.columns("hosting", classes).slice(0, 2).map((count, at) => [view.labels[at], [count]]);
    }
    if (id === "status-countries") return this.statusRows(view, classes);
    if (id === "top-cities") {
      if (axis) return [];
      const [code] = this.cube.countries[number];
      return this.cube.cities.filter(([own]) => own === code).map(([, name, count]) => [name, [count]]);
    }
    const groups = this.cube.groups(id === "top-networks" ? 1 : 0, classes);
    return groups.map(([name, , own]) => [name, [this.cube.sum(own)]]).sort((a, b) => b[1][0] - a[1][0]);
  }

  statusRows(view, classes) {
    const own = (some) => {
      const counts = this.cube.columns("statuses", some);
      return view.head.slice(1).map((name) => counts[Number(name[0]) - 1]);
    };
    const rows = this.cube.groups(0, classes).map(([name, , some]) => [name, own(some)]);
    return rows.length > 1 ? [[view.labels[0], own(classes)], ...rows] : rows;
  }

  narrowMaps(weights) {
    for (const root of document.querySelectorAll("[data-world]")) root.worldMap?.narrow(weights);
  }
}

const trafficForm = document.querySelector(".traffic-filter");
if (trafficForm) {
  trafficCube(JSON.parse(document.getElementById("traffic-cube").textContent)).then((cube) => {
    trafficForm.filter = new TrafficFilter(trafficForm, cube);
  });
}
