/**
 * The features whose support depends on hypervisor, architecture or gate, as data: a key, what it is, the field that asks
 * for it, and how to find that in a VMI. Documentation and `polyvirt capabilities` are made from this table.
 */
import { computeFeatures } from "./compute-features.ts";
import { deviceFeatures } from "./device-features.ts";
import { podFeatures } from "./pod-features.ts";

export const features = [...computeFeatures, ...deviceFeatures, ...podFeatures] as const;

export type FeatureKey = (typeof features)[number]["key"];
