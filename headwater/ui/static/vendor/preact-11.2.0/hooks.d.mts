// The types of the hooks that the page uses.
import type { Context } from "./preact.mjs";

type Inputs = readonly unknown[];
type Effect = () => void | undefined | (() => void);
export function useCallback<F extends (...values: any[]) => any>(callback: F, inputs: Inputs): F;
export function useContext<T>(context: Context<T>): T;
export function useEffect(effect: Effect, inputs?: Inputs): void;
export function useLayoutEffect(effect: Effect, inputs?: Inputs): void;
export function useMemo<T>(compute: () => T, inputs: Inputs): T;
export function useRef<T>(initial: T): { current: T };
export function useState<T>(
  initial: T | (() => T),
): [T, (next: T | ((previous: T) => T)) => void];
