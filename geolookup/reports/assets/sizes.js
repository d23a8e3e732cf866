// The size of a drawing follows the size of its element and the density of the screen.

// Calls `resized()` at first, and whenever the size of an element or devicePixelRatio changes.
function followSize(element, resized) {
  new ResizeObserver(resized).observe(element);
  const follow = () => {
    const density = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    const changed = () => {
      resized();
      follow();
    };
    density.addEventListener("change", changed, { once: true });
  };
  follow();
}
