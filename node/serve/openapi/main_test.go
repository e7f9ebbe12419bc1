package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/locket-dev/locket/docs"
	"github.com/locket-dev/locket/node/serve"
)

func TestDocumentIsCurrent(t *testing.T) {
	b, err := document()
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != docs.OpenAPI() {
		t.Error("docs/openapi.yaml is not what the table of routes says: go generate ./docs")
	}
}

func TestMemorySchemaIsCurrent(t *testing.T) {
	b, err := memorySchema()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("../../../docs/memory.schema.json")
	if err != nil || string(kept) != string(b) {
		t.Errorf("docs/memory.schema.json is not what package memory says: go generate ./docs; %v", err)
	}
}

// Every route has a name of its own and a description, declares exactly the
// parts of its path, and every $ref resolves.
func TestDocumentIsWhole(t *testing.T) {
	ids := map[string]bool{}
	inPath := regexp.MustCompile(`\{(\w+)\}`)
	for _, e := range serve.Endpoints() {
		if e.ID == "" || e.Summary == "" || e.Gives == "" || ids[e.ID] || len(e.Answers) == 0 {
			t.Errorf("%s %s: id %q, summary %q, answer %q: want them, and the id once", e.Method, e.Path, e.ID, e.Summary, e.Gives)
		}
		ids[e.ID] = true
		parts := map[string]bool{}
		for _, p := range e.Params {
			parts[p.Name] = p.In == "path"
		}
		for _, m := range inPath.FindAllStringSubmatch(e.Path, -1) {
			if !parts[m[1]] {
				t.Errorf("%s %s: no input has %s", e.Method, e.Path, m[1])
			}
			delete(parts, m[1])
		}
		for name, is := range parts {
			if is {
				t.Errorf("%s %s: the path has no %s", e.Method, e.Path, name)
			}
		}
	}
	var d struct {
		Components struct{ Schemas, Responses map[string]any }
	}
	if err := yaml.Unmarshal([]byte(docs.OpenAPI()), &d); err != nil {
		t.Fatal(err)
	}
	refs := regexp.MustCompile(`\$ref: ["']#/components/(\w+)/(\w+)["']`).FindAllStringSubmatch(docs.OpenAPI(), -1)
	if len(refs) < len(ids) {
		t.Errorf("%d references in %d routes", len(refs), len(ids))
	}
	for _, m := range refs {
		if map[string]map[string]any{"schemas": d.Components.Schemas, "responses": d.Components.Responses}[m[1]][m[2]] == nil {
			t.Errorf("%s leads nowhere", m[0])
		}
	}
}

// A field's comment is its description in the document.
func TestCommentsAreDescriptions(t *testing.T) {
	const want = "the whole line that a memory quotes, while it is kept"
	if !strings.Contains(docs.OpenAPI(), want) {
		t.Errorf("the document does not say %q", want)
	}
}
