package serve

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/locket-dev/locket/docs"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/config"
)

type document struct {
	OpenAPI    string `yaml:"openapi"`
	Paths      map[string]map[string]operation
	Components struct {
		Schemas    map[string]map[string]any
		Parameters map[string]parameter
		Responses  map[string]any
	}
}

type operation struct {
	OperationID string `yaml:"operationId"`
	Summary     string
	Parameters  []parameter
	RequestBody struct {
		Ref     string `yaml:"$ref"`
		Content map[string]struct {
			Schema map[string]any
		}
	} `yaml:"requestBody"`
	Responses map[string]struct {
		Ref     string `yaml:"$ref"`
		Content map[string]struct {
			Schema map[string]any
		}
	}
}

type parameter struct {
	Ref, Name, In string
	Schema        map[string]any
}

func readDocument(t *testing.T) document {
	t.Helper()
	var d document
	if err := yaml.Unmarshal([]byte(docs.OpenAPI), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Every route and parameter of the mux is in the document, and the other way.
func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	d := readDocument(t)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi: %q", d.OpenAPI)
	}
	var served, written []string
	inPath := regexp.MustCompile(`\{(\w+)\}`)
	for _, r := range Endpoints() {
		line := r.Method + " " + r.Path
		var params []string
		for _, p := range r.Params {
			if p.In == "query" {
				params = append(params, " query:"+p.Name)
			}
		}
		slices.Sort(params)
		for _, m := range inPath.FindAllStringSubmatch(r.Path, -1) {
			line += " path:" + m[1]
		}
		line += strings.Join(params, "")
		served = append(served, line)
	}
	ids := map[string]bool{}
	for path, ops := range d.Paths {
		for method, op := range ops {
			line := strings.ToUpper(method) + " " + path
			var params []string
			for _, p := range op.Parameters {
				params = append(params, p.In+":"+p.Name)
			}
			slices.Sort(params)
			written = append(written, strings.Join(append([]string{line}, params...), " "))
			if op.OperationID == "" || op.Summary == "" || ids[op.OperationID] {
				t.Errorf("%s: operationId %q and summary %q: want both, and the id once", line, op.OperationID, op.Summary)
			}
			ids[op.OperationID] = true
		}
	}
	slices.Sort(served)
	slices.Sort(written)
	for _, s := range served {
		if !slices.Contains(written, s) {
			t.Errorf("served and not described: %s", s)
		}
	}
	for _, s := range written {
		if !slices.Contains(served, s) {
			t.Errorf("described and not served: %s", s)
		}
	}
}

// wireTypes is what crosses the wire; what they refer to comes with them.
func wireTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[AddRequest](), reflect.TypeFor[AddResult](), reflect.TypeFor[SearchRequest](),
		reflect.TypeFor[SearchResult](), reflect.TypeFor[ListPage](), reflect.TypeFor[memory.Memory](),
		reflect.TypeFor[UpdateRequest](), reflect.TypeFor[Deleted](), reflect.TypeFor[HistoryAnswer](),
		reflect.TypeFor[Why](), reflect.TypeFor[ForgetRequest](), reflect.TypeFor[ForgetAnswer](),
		reflect.TypeFor[ZonesAnswer](), reflect.TypeFor[Tiers](), reflect.TypeFor[HotBudget](), reflect.TypeFor[Ways](), reflect.TypeFor[WayRequest](), reflect.TypeFor[MoveRequest](), reflect.TypeFor[MoveAnswer](), reflect.TypeFor[RetentionAnswer](), reflect.TypeFor[RemovedZone](),
		reflect.TypeFor[PauseRequest](), reflect.TypeFor[PauseState](), reflect.TypeFor[UnlockRequest](),
		reflect.TypeFor[UnlockState](), reflect.TypeFor[Revealed](), reflect.TypeFor[DevicesAnswer](),
		reflect.TypeFor[AddDeviceRequest](), reflect.TypeFor[DeviceCredentials](), reflect.TypeFor[RemovedDevice](),
		reflect.TypeFor[Status](), reflect.TypeFor[DoctorReport](), reflect.TypeFor[RefusalsAnswer](), reflect.TypeFor[Rescanned](),
		reflect.TypeFor[QuarantineAnswer](), reflect.TypeFor[BatchRequest](), reflect.TypeFor[BatchAnswer](), reflect.TypeFor[CategoriesAnswer](), reflect.TypeFor[ExportRecord](), reflect.TypeFor[ImportResult](),
		reflect.TypeFor[SyncStatus](), reflect.TypeFor[MembersAnswer](), reflect.TypeFor[Pairing](), reflect.TypeFor[ConfirmRequest](),
		reflect.TypeFor[RemoveMemberRequest](), reflect.TypeFor[RemovedMember](), reflect.TypeFor[Rotated](), reflect.TypeFor[Heads](), reflect.TypeFor[HeadsRequest](), reflect.TypeFor[HeadsCompared](), reflect.TypeFor[HeadsDifference](), reflect.TypeFor[RecoverVaultRequest](), reflect.TypeFor[VaultRecovered](), reflect.TypeFor[Fetched](),
		reflect.TypeFor[Problem](),
		reflect.TypeFor[AskRequest](), reflect.TypeFor[AskResult](),
		reflect.TypeFor[ContextRequest](), reflect.TypeFor[ContextResult](),
		reflect.TypeFor[ModelStatus](), reflect.TypeFor[ParkedAnswer](), reflect.TypeFor[ModelRun](),
		reflect.TypeFor[InstructionsRequest](), reflect.TypeFor[InstructionsAnswer](),
		reflect.TypeFor[VaultLogAnswer](),
		reflect.TypeFor[Tally](),
		reflect.TypeFor[atlas.View](), reflect.TypeFor[EntitiesAnswer](), reflect.TypeFor[DecideRequest](), reflect.TypeFor[Decided](),
		reflect.TypeFor[RelaysAnswer](), reflect.TypeFor[RelayRequest](), reflect.TypeFor[FolderRequest](), reflect.TypeFor[FolderSynced](),
		reflect.TypeFor[ConflictsAnswer](), reflect.TypeFor[SettleRequest](), reflect.TypeFor[Settled](),
		reflect.TypeFor[DreamPlan](), reflect.TypeFor[DreamRequest](), reflect.TypeFor[DreamResult](), reflect.TypeFor[DreamsAnswer](),
		reflect.TypeFor[ShareRequest](), reflect.TypeFor[SharePreview](), reflect.TypeFor[SharesAnswer](), reflect.TypeFor[SharedView](),
		reflect.TypeFor[ShareUpdated](), reflect.TypeFor[GrantRequest](), reflect.TypeFor[GrantsAnswer](), reflect.TypeFor[FeedsTended](), reflect.TypeFor[WorkerLog](), reflect.TypeFor[RevertRequest](), reflect.TypeFor[Reverted](),
		reflect.TypeFor[PluginsAnswer](), reflect.TypeFor[PluginView](), reflect.TypeFor[InstallPluginRequest](), reflect.TypeFor[EnablePluginRequest](),
		reflect.TypeFor[RemovedPlugin](), reflect.TypeFor[PluginPlan](), reflect.TypeFor[UnpinnedPlugin](), reflect.TypeFor[PluginLogsAnswer](), reflect.TypeFor[ReplayPluginRequest](), reflect.TypeFor[PluginReplayed](), reflect.TypeFor[Trace](),
	}
}

// Every schema has the fields of its Go struct, of the same types.
func TestDocumentHasTheSchemasOfTheStructs(t *testing.T) {
	want := map[string]map[string]any{}
	for _, typ := range wireTypes() {
		schemaOf(typ, want)
	}
	// Through YAML, so that both sides have its types.
	b, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	want = map[string]map[string]any{}
	if err := yaml.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	got := readDocument(t).Components.Schemas
	for name := range got {
		if want[name] == nil && name != "Filter" { // which has a codec of its own
			t.Errorf("schema %s stands for no struct", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(plain(got[name]), any(want[name])) {
			b, _ := yaml.Marshal(map[string]any{name: want[name]})
			t.Errorf("schema %s differs from its struct, which is\n%s", name, b)
		}
	}
}

// plain takes descriptions and examples away.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if _, isText := x.(string); !isText || k != "description" && k != "example" {
				out[k] = plain(x)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	}
	return v
}

// schemaOf gives a type's JSON Schema, adding structs to all by name.
func schemaOf(t reflect.Type, all map[string]map[string]any) map[string]any {
	s := func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return s("type", "string", "format", "date-time")
	case reflect.TypeFor[config.Duration](), reflect.TypeFor[memory.ID](), reflect.TypeFor[memory.EventID](),
		reflect.TypeFor[memory.SpaceID](), reflect.TypeFor[memory.MemberID]():
		return s("type", "string")
	case reflect.TypeFor[memory.Sensitivity]():
		return s("type", "string", "enum", []string{"public", "personal", "private", "secret"})
	case reflect.TypeFor[filter.Filter]():
		return s("$ref", "#/components/schemas/Filter")
	case reflect.TypeFor[memory.Type]():
		return s("type", "string", "enum", memory.Types[:])
	case reflect.TypeFor[memory.State]():
		return s("type", "string", "enum", []memory.State{memory.Active, memory.Superseded, memory.Archived, memory.Erased})
	case reflect.TypeFor[memory.Verdict]():
		return s("type", "string", "enum", []memory.Verdict{memory.Add, memory.Update, memory.Delete, memory.Noop, memory.Refuse})
	case reflect.TypeFor[json.RawMessage]():
		return s()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), all)
	case reflect.String:
		return s("type", "string")
	case reflect.Bool:
		return s("type", "boolean")
	case reflect.Float64:
		return s("type", "number")
	case reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint64:
		return s("type", "integer")
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return s("type", "string", "contentEncoding", "base64")
		}
		return s("type", "array", "items", schemaOf(t.Elem(), all))
	case reflect.Map:
		return s("type", "object", "additionalProperties", schemaOf(t.Elem(), all))
	case reflect.Struct:
		if all[t.Name()] == nil {
			m := map[string]any{"type": "object"}
			all[t.Name()] = m
			props, required := map[string]any{}, []string{}
			fieldsOf(t, props, &required, all)
			m["properties"] = props
			if len(required) > 0 {
				slices.Sort(required)
				m["required"] = required
			}
			if strings.HasSuffix(t.Name(), "Request") {
				m["additionalProperties"] = false
			}
		}
		return s("$ref", "#/components/schemas/"+t.Name())
	}
	panic("no schema for " + t.String())
}

func fieldsOf(t reflect.Type, props map[string]any, required *[]string, all map[string]map[string]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			fieldsOf(f.Type, props, required, all)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		props[name] = schemaOf(f.Type, all)
		// A request needs what has no omitempty and no default.
		if options == "" {
			*required = append(*required, name)
		}
	}
}

// Every $ref leads somewhere, and every kind of problem is listed.
func TestDocumentIsWhole(t *testing.T) {
	d := readDocument(t)
	for _, m := range regexp.MustCompile(`\$ref: ["']#/components/(\w+)/(\w+)["']`).FindAllStringSubmatch(docs.OpenAPI, -1) {
		found := false
		switch m[1] {
		case "schemas":
			_, found = d.Components.Schemas[m[2]]
		case "responses":
			_, found = d.Components.Responses[m[2]]
		}
		if !found {
			t.Errorf("%s leads nowhere", m[0])
		}
	}
	seen := map[string]bool{}
	for _, k := range kinds {
		if seen[k.name] || k.status < 400 || k.title == "" {
			t.Errorf("kind %+v", k)
		}
		seen[k.name] = true
		if !strings.Contains(docs.OpenAPI, "| `"+typePrefix+k.name+"` | "+strconv.Itoa(k.status)+" |") {
			t.Errorf("problem %s with status %d is not in the document", k.name, k.status)
		}
	}
}
