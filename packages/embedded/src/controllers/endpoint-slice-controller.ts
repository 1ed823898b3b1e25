import { endpointSlices as sliceResource, type EndpointSlice, type Pod, type Service } from "@polyvirt/api/k8s";
import { createController, keyOf, type Controller, type Informer } from "@polyvirt/kube";
import { endpointSlices, isManagedSlice } from "./endpoint-slice-plan.ts";
import { unless, type ControllerDependencies } from "./object-controller.ts";
import { canonicalJson } from "./pod-template.ts";

interface EndpointSliceControllerOptions extends Omit<ControllerDependencies, "events"> {
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly slices: Informer<EndpointSlice>;
}

/** Publishes the addresses of the pods behind each service that has a selector. */
export function createEndpointSliceController(options: EndpointSliceControllerOptions): Controller {
  const { client, clock, logger } = options;
  const controller = createController({
    name: "endpointslice",
    clock,
    logger,
    async reconcile(key) {
      const service = options.services.get(key);
      const [namespace = "", name = ""] = key.split("/");
      const existing = options.slices
        .list()
        .filter((slice) => slice.metadata.namespace === namespace && isManagedSlice(slice, name));
      const wanted = service?.spec?.selector === undefined ? [] : endpointSlices(service, selectedPods(service));
      for (const slice of wanted) {
        await write(
          slice,
          existing.find(({ metadata }) => metadata.name === slice.metadata.name),
        );
      }
      const names = new Set(wanted.map(({ metadata }) => metadata.name));
      for (const { metadata } of existing.filter((slice) => !names.has(slice.metadata.name))) {
        await unless(["KubeNotFound"], client.delete(sliceResource, metadata.name ?? "", namespace));
      }
      return {};
    },
  });

  const write = async (wanted: EndpointSlice, existing: EndpointSlice | undefined): Promise<void> => {
    if (existing === undefined) {
      await unless(["KubeAlreadyExists"], client.create(sliceResource, wanted));
      return;
    }
    const content = ({ endpoints, ports }: EndpointSlice): string => canonicalJson({ endpoints, ports });
    if (content(wanted) === content(existing)) return;
    await client.update(sliceResource, {
      ...existing,
      endpoints: wanted.endpoints,
      ...(wanted.ports === undefined ? {} : { ports: wanted.ports }),
    });
  };

  const selectedPods = (service: Service): Pod[] => {
    const selector = Object.entries(service.spec?.selector ?? {});
    return options.pods
      .list()
      .filter(
        ({ metadata }) =>
          metadata.namespace === service.metadata.namespace &&
          selector.every(([label, value]) => metadata.labels?.[label] === value),
      );
  };

  const enqueueServicesOf = (pod: Pod): void => {
    for (const service of options.services.list()) {
      if (service.metadata.namespace !== pod.metadata.namespace || service.spec?.selector === undefined) continue;
      const matches = Object.entries(service.spec.selector).every(
        ([label, value]) => pod.metadata.labels?.[label] === value,
      );
      if (matches) controller.enqueue(keyOf(service));
    }
  };
  options.services.on({
    onSet: (service) => controller.enqueue(keyOf(service)),
    onDelete: (service) => controller.enqueue(keyOf(service)),
  });
  options.pods.on({
    onSet: (pod, old) => {
      enqueueServicesOf(pod);
      if (old !== undefined && canonicalJson(old.metadata.labels) !== canonicalJson(pod.metadata.labels))
        enqueueServicesOf(old);
    },
    onDelete: enqueueServicesOf,
  });
  options.slices.on({
    onDelete: ({ metadata }) => {
      const service = metadata.labels?.["kubernetes.io/service-name"];
      if (service !== undefined) controller.enqueue(`${metadata.namespace}/${service}`);
    },
  });
  return controller;
}
