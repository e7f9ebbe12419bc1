// Put into the console's page before its own script: when is something there?

/** there waits until a selector is there and nothing waits any more, laid out. */
function locketThere(selector) {
  const is = () => document.querySelector(selector) && !document.querySelector(".waiting");
  return new Promise((done) => {
    const look = () => {
      if (!is()) return false;
      watch.disconnect();
      document.body.offsetHeight; // laid out
      done();
      return true;
    };
    const watch = new MutationObserver(look);
    watch.observe(document, { subtree: true, childList: true, attributes: true });
    look();
  });
}

/** In ms since the address was asked for; the first one is told. */
function locketReady(selector) {
  return locketThere(selector).then(() => performance.now());
}

/** Goes to a page as a press on a link does; in ms. */
async function locketGo(path, selector) {
  const a = document.createElement("a");
  a.href = "/nowhere";
  document.body.append(a);
  a.click();
  await new Promise((done) => setTimeout(done, 200));
  a.href = path;
  const began = performance.now();
  a.click();
  await locketThere(selector);
  a.remove();
  return performance.now() - began;
}

/** Frames a second of the graph with all its names, for three seconds each: while it is moved and magnified, and while time goes by. */
async function locketFrames() {
  const a = document.createElement("a");
  a.href = "/graph?all=1";
  document.body.append(a);
  a.click();
  await locketThere('.sky[data-settled="true"]');
  a.remove();
  const sky = document.querySelector(".sky");
  const slider = document.querySelector('input[name="day"]');
  const box = sky.getBoundingClientRect();
  const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true, cancelable: true };
  const run = async (each) => {
    let frames = 0;
    const began = performance.now();
    await new Promise((done) => {
      const frame = (now) => {
        each(frames++);
        now - began < 3000 ? requestAnimationFrame(frame) : done();
      };
      requestAnimationFrame(frame);
    });
    return (frames * 1000) / (performance.now() - began);
  };
  const moved = await run((n) => {
    sky.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: n % 80 < 40 ? -6 : 6 }));
    sky.dispatchEvent(new KeyboardEvent("keydown", { key: ["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"][(n >> 4) % 4], bubbles: true, cancelable: true }));
  });
  const slid = await run((n) => {
    slider.value = Number(slider.min) + ((Number(slider.max) - Number(slider.min)) * (n % 180)) / 180;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return { moved, slid };
}
