// The WebGL shaders that draw the whole graph.

export const points = `
attribute vec2 at; attribute float size; attribute vec3 hue; attribute float shape; attribute float dim;
uniform vec4 view; uniform float grow;
varying vec3 colour; varying float is; varying float weak; varying float edge;
void main() {
  gl_Position = vec4(at * view.xy + view.zw, 0.0, 1.0);
  gl_PointSize = 2.0 * size * grow + 2.0;
  colour = hue; is = shape; weak = dim; edge = 1.0 / gl_PointSize;
}`;
export const pointColours = `
precision mediump float;
varying vec3 colour; varying float is; varying float weak; varying float edge;
void main() {
  vec2 p = abs(gl_PointCoord - 0.5) * 2.0;
  float far = is < 0.5 ? length(p) : is < 1.5 ? max(p.x, p.y) * 1.12 : p.x + p.y;
  float a = 1.0 - smoothstep(1.0 - 4.0 * edge, 1.0, far);
  if (a <= 0.0) discard;
  gl_FragColor = vec4(colour, 1.0) * a * (weak > 0.5 ? 0.22 : 1.0);
}`;
export const lines = `
attribute vec2 at; attribute vec2 life; attribute float mark;
uniform vec4 view; uniform float day;
varying float strong;
void main() {
  bool is = life.x <= day && day < life.y;
  gl_Position = is ? vec4(at * view.xy + view.zw, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  strong = mark;
}`;
export const lineColours = `
precision mediump float;
uniform vec3 colour; uniform vec3 accent;
varying float strong;
void main() {
  gl_FragColor = strong > 1.5 ? vec4(accent, 1.0) : vec4(colour, 1.0) * (strong > 0.5 ? 0.75 : 0.35);
}`;

export function program(gl: WebGLRenderingContext, vertex: string, fragment: string): WebGLProgram {
  const p = gl.createProgram()!;
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const s = gl.createShader(type)!;
    gl.shaderSource(s, source);
    gl.compileShader(s);
    gl.attachShader(p, s);
  }
  gl.linkProgram(p);
  if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error("WebGL: " + gl.getProgramInfoLog(p));
  return p;
}
