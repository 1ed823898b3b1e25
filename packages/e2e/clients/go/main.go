// Lists, watches and patches through Kubernetes' own Go client: `go run . KUBECONFIG`. It prints what it saw, one line
// each, so that what two servers make of it can be compared, and fails where an answer is not what the client asked for.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

const namespace = "go-client"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err, "reading the kubeconfig")
	// The client's own choice for built-in kinds, as controllers use it.
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	check(err, "making a client")
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	check(err, "creating the namespace")
	changes(ctx, client)
	watches(ctx, client)
	informs(ctx, client)
}

// Creates, lists in pages, patches in each way, and meets a conflict.
func changes(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	for _, name := range []string{"a", "b", "c"} {
		_, err := maps.Create(ctx, configMap(name), metav1.CreateOptions{})
		check(err, "creating "+name)
	}
	for options := (metav1.ListOptions{Limit: 2, LabelSelector: "made-by=go"}); ; {
		page, err := maps.List(ctx, options)
		check(err, "listing")
		for _, item := range page.Items {
			fmt.Println("listed", item.Name, item.Data)
		}
		if options.Continue = page.Continue; page.Continue == "" {
			break
		}
	}
	patches := map[types.PatchType]string{
		types.MergePatchType:          `{"data":{"merge":"1"}}`,
		types.StrategicMergePatchType: `{"data":{"strategic":"1"}}`,
		types.JSONPatchType:           `[{"op":"add","path":"/data/json","value":"1"}]`,
	}
	for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType} {
		patched, err := maps.Patch(ctx, "a", kind, []byte(patches[kind]), metav1.PatchOptions{})
		check(err, "patching")
		fmt.Println("patched", kind, patched.Data)
	}
	applied, err := maps.Apply(ctx, applycorev1.ConfigMap("b", namespace).WithData(map[string]string{"n": "2"}), metav1.ApplyOptions{FieldManager: "go", Force: true})
	check(err, "applying")
	fmt.Println("applied", applied.Data)
	stale, err := maps.Get(ctx, "c", metav1.GetOptions{})
	check(err, "reading c")
	check(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := maps.Get(ctx, "c", metav1.GetOptions{})
		check(err, "reading c again")
		fresh.Data["n"] = "3"
		_, err = maps.Update(ctx, fresh, metav1.UpdateOptions{})
		return err
	}), "updating c")
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	fmt.Println("conflict:", errors.IsConflict(err), err)
	_, err = maps.Get(ctx, "nope", metav1.GetOptions{})
	fmt.Println("not found:", errors.IsNotFound(err), err)
}

func watches(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	check(err, "listing")
	watch, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, LabelSelector: "made-by=go"})
	check(err, "watching")
	defer watch.Stop()
	_, err = maps.Create(ctx, configMap("d"), metav1.CreateOptions{})
	check(err, "creating d")
	check(maps.Delete(ctx, "d", metav1.DeleteOptions{}), "deleting d")
	for range 2 {
		event := <-watch.ResultChan()
		fmt.Println("watched", event.Type, event.Object.(*corev1.ConfigMap).Name)
	}
}

// An informer holds everything and follows a change.
func informs(ctx context.Context, client kubernetes.Interface) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps()
	updated := make(chan string, 10)
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, object any) { updated <- object.(*corev1.ConfigMap).Data["n"] },
	})
	check(err, "adding a handler")
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
		check(ctx.Err(), "waiting for the informer")
	}
	_, err = client.CoreV1().ConfigMaps(namespace).Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"n":"seen"}}`), metav1.PatchOptions{})
	check(err, "patching a")
	fmt.Println("informed", <-updated)
}

func configMap(name string) *corev1.ConfigMap {
	labels := map[string]string{"made-by": "go"}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"n": "1"}}
}

func check(err error, doing string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", doing, err)
		os.Exit(1)
	}
}
