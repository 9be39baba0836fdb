// The three libraries of every view: Preact, its hooks, and HTM, which reads markup from templates.
import { Component, Fragment, createContext, h, render } from "../vendor/preact-11.2.0/preact.mjs";
import {
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../vendor/preact-11.2.0/hooks.mjs";
import htm from "../vendor/htm-3.1.1/htm.mjs";

export const html = htm.bind(h);
export {
  Fragment,
  createContext,
  render,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
};

/**
 * Return a component that is drawn again only if a property changed.
 * @param {(properties: any) => any} component
 */
export function memo(component) {
  return class extends Component {
    /** @param {Record<string, unknown>} next */
    shouldComponentUpdate(next) {
      return Object.keys(next).some((key) => next[key] !== this.props[key]);
    }
    render() {
      return component(this.props);
    }
  };
}
