/** A Kubernetes quantity as it stands in an object: `128Mi`, `500m`, `2`. Parse it with `core` before computing. */
export type Quantity = string | number;

/** A port or a percentage: a number, or a name. */
export type IntOrString = number | string;
