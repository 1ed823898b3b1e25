import { configureGlobal } from "fast-check";

// The gate tries the same examples each time, so that it fails for a reason in the change. `FAST_CHECK_SEED=random` explores.
const seed = process.env["FAST_CHECK_SEED"] ?? "1";
if (seed !== "random") configureGlobal({ seed: Number(seed) });
