import { parseArchitecture } from "../architecture.ts";
import type { DefaultsLayer, DefaultsProvider } from "../contract.ts";
import { copyJson } from "./copy.ts";
import type { DefaultsLayers, DefaultsStep } from "./step.ts";

/** Builds the provider that runs the layers over a copy of the VMI. */
export function createDefaultsProvider(layers: DefaultsLayers): DefaultsProvider {
  return {
    applyToInstance(vmi, context, onStep) {
      const draft = copyJson(vmi);
      const run = (layer: DefaultsLayer, steps: readonly DefaultsStep[]): void => {
        for (const step of steps) {
          step.set(draft, context);
          onStep?.({ layer, name: step.name }, draft);
        }
      };
      run("base", layers.base);
      run("hypervisor", layers.hypervisor);
      // Base has set the architecture; one that nobody knows gets no further defaults and is refused by validation.
      const architecture = parseArchitecture(draft.spec.architecture ?? "");
      if (architecture !== undefined) {
        run("architecture", layers.architecture[architecture] ?? []);
        run("pair", layers.pair[architecture] ?? []);
      }
      run("finalization", layers.finalization);
      return draft;
    },
    applyToMachine(vm, context, onStep) {
      const draft = copyJson(vm);
      for (const step of layers.machine) {
        step.set(draft, context);
        onStep?.({ layer: "machine", name: step.name }, draft);
      }
      return draft;
    },
  };
}
