import { silentLogger, systemClock } from "@polyvirt/core";
import { createKubeClient, kubeconfigConnection, type KubeClient } from "@polyvirt/kube";

/** A client with the rights of the kubeconfig's current context. */
export async function connectWith(
  kubeconfig: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<KubeClient> {
  const connection = await kubeconfigConnection(kubeconfig, { clock: systemClock, environment });
  return createKubeClient({ connection, clock: systemClock, logger: silentLogger });
}
