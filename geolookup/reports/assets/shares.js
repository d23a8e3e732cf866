// Shares as texts, as pictures/wording.py writes them.

// Returns a share from 0 to 1 in percent; only none reads 0 %, and only all 100 %.
function percentText(share) {
  if (share > 0 && share < 0.0001) return "< 0.01 %";
  if (share > 0.9999 && share < 1) return "> 99.99 %";
  return `${(100 * share).toFixed(2)} %`;
}
