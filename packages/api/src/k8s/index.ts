/** The Kubernetes types that Polyvirt itself reads and writes; no VM words here, so `embedded` may import it. */
export * from "./meta.ts";
