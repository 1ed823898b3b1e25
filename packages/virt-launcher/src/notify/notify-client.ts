import { createGrpcClient, encodeDomainDocument, notifyInfo, notifyV1 } from "@polyvirt/protocol";
import { errors } from "../errors.ts";
import type { NotifyChannel } from "./notifier.ts";

const notifyVersion = 1;
const sendTimeoutMs = 5_000;

/** Notify over the pipe socket that virt-handler makes in the pod. The versions are compared once a connection works. */
export function createNotifyClient(socketPath: string): NotifyChannel {
  const address = `unix:${socketPath}`;
  const options = { timeoutMs: sendTimeoutMs };
  const info = createGrpcClient(notifyInfo.NotifyInfo, address, options);
  const notify = createGrpcClient(notifyV1.Notify, address, options);
  let compatible = false;

  const agree = async (): Promise<void> => {
    if (compatible) return;
    const { supportedNotifyVersions } = await info.info({});
    if (!supportedNotifyVersions.includes(notifyVersion)) {
      throw errors.LauncherNotifyRefused(
        `notify virt-handler: it speaks versions ${supportedNotifyVersions.join(", ")}, this launcher speaks ${notifyVersion}`,
      );
    }
    compatible = true;
  };
  const acknowledged = (response: notifyV1.Response): void => {
    if (!response.success) throw errors.LauncherNotifyRefused(`notify virt-handler: ${response.message}`);
  };

  return {
    async sendDomain(eventType, domain) {
      await agree();
      acknowledged(await notify.handleDomainEvent({ domainJSON: encodeDomainDocument(domain), eventType }));
    },
    async sendEvent(event) {
      await agree();
      acknowledged(await notify.handleK8sEvent({ eventJSON: Buffer.from(JSON.stringify(event)) }));
    },
    close() {
      info.close();
      notify.close();
    },
  };
}
