package main

import (
	"context"
	"encoding/json"
	"sort"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/warning"
)

// ruleQuestion asks what the rules of a CRD's schema say about an object.
type ruleQuestion struct {
	Schema    json.RawMessage `json:"schema"`
	Object    json.RawMessage `json:"object"`
	OldObject json.RawMessage `json:"oldObject"`
}

type ruleAnswer struct {
	Problems []string `json:"problems,omitempty"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	Costs    []uint64 `json:"costs"`
}

// policyQuestion asks what a ValidatingAdmissionPolicy decides about an object.
type policyQuestion struct {
	Policy          v1.ValidatingAdmissionPolicySpec `json:"policy"`
	Object          json.RawMessage                  `json:"object"`
	OldObject       json.RawMessage                  `json:"oldObject"`
	Params          json.RawMessage                  `json:"params"`
	NamespaceObject *corev1.Namespace                `json:"namespaceObject"`
}

type decision struct {
	Action     string `json:"action"`
	Evaluation string `json:"evaluation"`
	Message    string `json:"message"`
	Reason     string `json:"reason"`
}

type annotation struct {
	Key    string `json:"key"`
	Action string `json:"action"`
	Value  string `json:"value"`
	Error  string `json:"error"`
}

type policyAnswer struct {
	Decisions   []decision   `json:"decisions"`
	Annotations []annotation `json:"annotations"`
}

func decode(raw json.RawMessage) map[string]any {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var value map[string]any
	if err := utiljson.Unmarshal(raw, &value); err != nil {
		panic(err)
	}
	return value
}

type recorder struct{ warnings []string }

func (r *recorder) AddWarning(_, text string) { r.warnings = append(r.warnings, text) }

func answerRules(question ruleQuestion) ruleAnswer {
	var external apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(question.Schema, &external); err != nil {
		panic(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		panic(err)
	}
	s, err := structural.NewStructural(&internal)
	if err != nil {
		panic(err)
	}
	answer := ruleAnswer{Errors: []string{}, Warnings: []string{}, Costs: []uint64{}}
	compiled, err := schemacel.Compile(s, model.SchemaDeclType(s, true), celconfig.PerCallLimit,
		environment.MustBaseEnvSet(version.MajorMinor(1, 36)), schemacel.StoredExpressionsEnvLoader())
	if err != nil {
		panic(err)
	}
	for _, rule := range compiled {
		if rule.Error != nil {
			answer.Problems = append(answer.Problems, rule.Error.Error())
			continue
		}
		answer.Costs = append(answer.Costs, rule.MaxCost)
	}
	if len(answer.Problems) > 0 {
		return answer
	}
	validator := schemacel.NewValidator(s, true, celconfig.PerCallLimit)
	object, old := decode(question.Object), decode(question.OldObject)
	recorder := &recorder{}
	ctx := warning.WithWarningRecorder(context.Background(), recorder)
	var options []schemacel.Option
	var oldValue any
	if old != nil {
		oldValue = old
		options = append(options, schemacel.WithRatcheting(common.NewCorrelatedObject(object, old, &model.Structural{Structural: s})))
	}
	errs, _ := validator.Validate(ctx, nil, s, object, oldValue, celconfig.RuntimeCELCostBudget, options...)
	for _, e := range errs {
		answer.Errors = append(answer.Errors, e.Error())
	}
	answer.Warnings = append(answer.Warnings, recorder.warnings...)
	// Properties are visited in no particular order.
	sort.Strings(answer.Errors)
	sort.Strings(answer.Warnings)
	return answer
}

func answerPolicy(question policyQuestion) policyAnswer {
	spec := question.Policy
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 36)))
	if err != nil {
		panic(err)
	}
	full := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	plain := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil}
	var variables []plugincel.NamedExpressionAccessor
	for _, variable := range spec.Variables {
		variables = append(variables, &validating.Variable{Name: variable.Name, Expression: variable.Expression})
	}
	compiler.CompileAndStoreVariables(variables, full, environment.StoredExpressions)
	var matcher matchconditions.Matcher
	if len(spec.MatchConditions) > 0 {
		accessors := make([]plugincel.ExpressionAccessor, len(spec.MatchConditions))
		for i := range spec.MatchConditions {
			accessors[i] = (*matchconditions.MatchCondition)(&spec.MatchConditions[i])
		}
		matcher = matchconditions.NewMatcher(compiler.CompileCondition(accessors, full, environment.StoredExpressions), spec.FailurePolicy, "policy", "validate", "p")
	}
	validations := make([]plugincel.ExpressionAccessor, len(spec.Validations))
	messages := make([]plugincel.ExpressionAccessor, len(spec.Validations))
	for i, validation := range spec.Validations {
		validations[i] = &validating.ValidationCondition{Expression: validation.Expression, Message: validation.Message, Reason: validation.Reason}
		if validation.MessageExpression != "" {
			messages[i] = &validating.MessageExpressionCondition{MessageExpression: validation.MessageExpression}
		}
	}
	annotations := make([]plugincel.ExpressionAccessor, len(spec.AuditAnnotations))
	for i, item := range spec.AuditAnnotations {
		annotations[i] = &validating.AuditAnnotationCondition{Key: item.Key, ValueExpression: item.ValueExpression}
	}
	validator := validating.NewValidator(
		compiler.CompileCondition(validations, full, environment.StoredExpressions),
		matcher,
		compiler.CompileCondition(annotations, full, environment.StoredExpressions),
		compiler.CompileCondition(messages, plain, environment.StoredExpressions),
		spec.FailurePolicy,
		nil,
	)
	asObject := func(raw json.RawMessage) runtime.Object {
		if value := decode(raw); value != nil {
			return &unstructured.Unstructured{Object: value}
		}
		return nil
	}
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
	resource := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	object, old := asObject(question.Object), asObject(question.OldObject)
	operation := admission.Create
	if old != nil {
		operation = admission.Update
	}
	attributes := admission.NewAttributesRecord(object, old, kind, "default", "thing", resource, "", operation, nil, false,
		&user.DefaultInfo{Name: "ann", Groups: []string{"dev"}})
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: kind, VersionedObject: object, VersionedOldObject: old}
	result := validator.Validate(context.Background(), resource, versioned, asObject(question.Params), question.NamespaceObject, celconfig.RuntimeCELCostBudget, nil)
	answer := policyAnswer{Decisions: []decision{}, Annotations: []annotation{}}
	for _, item := range result.Decisions {
		answer.Decisions = append(answer.Decisions, decision{string(item.Action), string(item.Evaluation), item.Message, string(item.Reason)})
	}
	for _, item := range result.AuditAnnotations {
		answer.Annotations = append(answer.Annotations, annotation{item.Key, string(item.Action), item.Value, item.Error})
	}
	return answer
}
