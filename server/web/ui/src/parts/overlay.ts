import type uPlot from "uplot";
import { cut } from "./format";

/** A moment on the axis of time, as a release or a marker. */
export type Mark = { at: number; label: string; color?: string };
/** A part of the axis of time, as an incident. */
export type Band = { start: number; end: number; color?: string };
/** A value on the axis of values, as a threshold. */
export type Level = { value: number; label?: string; color?: string };

export type Overlay = { marks?: Mark[] | undefined; bands?: Band[] | undefined; levels?: Level[] | undefined };

type Paint = (token: string) => string;

/** drawBands shades parts of the time, below the lines. */
export function drawBands(u: uPlot, bands: Band[], paint: Paint): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  for (const b of bands) {
    const x = u.valToPos(b.start / 1000, "x", true);
    const to = Math.max(u.valToPos(b.end / 1000, "x", true), x + 2 * devicePixelRatio);
    ctx.fillStyle = paint(b.color ?? "--bad");
    ctx.globalAlpha = 0.16;
    ctx.fillRect(x, top, to - x, height);
    ctx.globalAlpha = 0.8;
    ctx.fillRect(x, top, to - x, 3 * devicePixelRatio);
  }
  ctx.restore();
}

/** drawLevels and marks stand over the lines. A mark has its name beside it where there is room. */
export function drawLevels(u: uPlot, levels: Level[], marks: Mark[], paint: Paint): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  const px = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.lineWidth = 1.5 * px;
  ctx.font = `${11 * px}px system-ui, sans-serif`;
  for (const l of levels) {
    const y = u.valToPos(l.value, "y", true);
    ctx.strokeStyle = ctx.fillStyle = paint(l.color ?? "--bad");
    ctx.setLineDash([6 * px, 4 * px]);
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
    if (l.label) {
      ctx.textAlign = "right";
      ctx.textBaseline = y - top < 16 * px ? "top" : "bottom";
      ctx.fillText(l.label, left + width - 4 * px, y + (y - top < 16 * px ? 3 : -2) * px);
    }
  }
  ctx.lineWidth = px;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  let free = 0;
  for (const m of [...marks].sort((a, b) => a.at - b.at)) {
    const x = Math.round(u.valToPos(m.at / 1000, "x", true)) + 0.5;
    if (x < left || x > left + width) continue;
    ctx.strokeStyle = ctx.fillStyle = paint(m.color ?? "--info");
    ctx.setLineDash([2 * px, 3 * px]);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - 4 * px, top);
    ctx.lineTo(x + 4 * px, top);
    ctx.lineTo(x, top + 6 * px);
    ctx.fill();
    const text = m.label.length > 22 ? `${cut(m.label, 21).kept}…` : m.label;
    const long = ctx.measureText(text).width;
    if (x > free && x + long + 10 * px < left + width) {
      ctx.fillText(text, x + 6 * px, top);
      free = x + long + 14 * px;
    }
  }
  ctx.restore();
}

/** near are the marks within a few pixels of the cursor. */
export function near(u: uPlot, marks: Mark[]): Mark[] {
  const at = u.cursor.left ?? -1;
  return at < 0 ? [] : marks.filter((m) => Math.abs(u.valToPos(m.at / 1000, "x") - at) < 6);
}

/** handles lets the mouse drag levels. The keyboard has the field of the number beside the chart. */
export function handles(
  u: uPlot,
  levels: () => Level[],
  moved: (index: number, value: number, done: boolean) => void,
): { place: () => void } {
  const all: HTMLElement[] = [];
  const place = (): void => {
    while (all.length < levels().length) all.push(handle(all.length));
    all.forEach((h, i) => {
      const level = levels()[i];
      h.hidden = level === undefined;
      if (level) h.style.top = `${u.valToPos(level.value, "y")}px`;
    });
  };
  const handle = (index: number): HTMLElement => {
    const h = document.createElement("div");
    h.className = "level";
    u.over.append(h);
    const value = (e: PointerEvent): number => {
      const box = u.over.getBoundingClientRect();
      return u.posToVal(Math.min(box.height, Math.max(0, e.clientY - box.top)), "y");
    };
    h.addEventListener("mousedown", (e) => e.stopPropagation());
    h.addEventListener("pointerdown", (e) => {
      e.stopPropagation();
      h.setPointerCapture(e.pointerId);
      h.dataset.drag = "";
    });
    h.addEventListener("pointermove", (e) => {
      if (h.dataset.drag !== undefined) moved(index, value(e), false);
    });
    h.addEventListener("pointerup", (e) => {
      if (h.dataset.drag === undefined) return;
      delete h.dataset.drag;
      moved(index, value(e), true);
    });
    return h;
  };
  return { place };
}
