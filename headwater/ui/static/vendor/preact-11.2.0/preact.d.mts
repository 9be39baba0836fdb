// The types of what the page uses of Preact. Written by hand: the package's own files name each other by package.
export type Context<T> = ((properties: { value: T; children?: any }) => any) & { Provider: any };
export const Fragment: (properties: { children?: any }) => any;
export function createContext<T>(initial: T): Context<T>;
export function h(type: any, properties: any, ...children: any[]): any;
export function render(tree: any, parent: Element): void;
export class Component {
  props: any;
}
