package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

const module = "github.com/locket-dev/locket/"

var problemType = reflect.TypeFor[serve.Problem]()

// filterSchema is the schema of a type that has its own codec.
//
//go:embed filter.yaml
var filterSchema []byte

// schemas collects the structs that cross the wire, as JSON Schema.
type schemas struct {
	root     string
	named    map[string]*yaml.Node
	types    map[string]reflect.Type
	comments map[string]map[string]string // by package, then TYPE.FIELD
	err      error                        // the first error

	refs   string // what precedes a name in a reference
	closed bool   // objects have only the properties of their type, and ids have a pattern
}

func newSchemas(root string) *schemas {
	return &schemas{root: root, named: map[string]*yaml.Node{}, types: map[string]reflect.Type{}, comments: map[string]map[string]string{}, refs: "#/components/schemas/"}
}

func (s *schemas) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *schemas) all() *yaml.Node {
	out := mapping()
	for _, name := range slices.Sorted(maps.Keys(s.named)) {
		add(out, name, s.named[name])
	}
	return out
}

func typed(name string, more ...any) *yaml.Node {
	return flow(mapping(append([]any{"type", name}, more...)...))
}

func enum[T ~string](values ...T) *yaml.Node {
	l := list()
	for _, v := range values {
		l.Content = append(l.Content, nodeOf(string(v)))
	}
	return typed("string", "enum", l)
}

// of returns a type's schema. A struct gets a named schema, and of returns a
// reference to it.
func (s *schemas) of(t reflect.Type) *yaml.Node {
	switch t {
	case reflect.TypeFor[time.Time]():
		return typed("string", "format", "date-time")
	case reflect.TypeFor[memory.ID](), reflect.TypeFor[memory.SpaceID](), reflect.TypeFor[memory.MemberID]():
		if s.closed {
			return typed("string", "pattern", idPattern)
		}
		return typed("string")
	case reflect.TypeFor[config.Duration](), reflect.TypeFor[memory.EventID]():
		return typed("string")
	case reflect.TypeFor[memory.Sensitivity]():
		return enum("public", "personal", "private", "secret")
	case reflect.TypeFor[memory.Type]():
		return enum(memory.Types[:]...)
	case reflect.TypeFor[trade.Hash](), reflect.TypeFor[trade.Key]():
		return typed("string", "pattern", "^[0-9a-f]{64}$")
	case reflect.TypeFor[trade.Phase]():
		return enum(trade.Ordered, trade.Funded, trade.Delivered, trade.Disputed, trade.Accepted, trade.Settled, trade.Refunded, trade.Expired)
	case reflect.TypeFor[memory.State]():
		return enum(memory.Active, memory.Superseded, memory.Archived, memory.Erased)
	case reflect.TypeFor[memory.Verdict]():
		return enum(memory.Add, memory.Update, memory.Delete, memory.Noop, memory.Refuse)
	case reflect.TypeFor[json.RawMessage]():
		return flow(mapping())
	case reflect.TypeFor[filter.Filter]():
		if s.named["Filter"] == nil {
			var doc yaml.Node
			if err := yaml.Unmarshal(filterSchema, &doc); err != nil {
				s.fail(err)
				return flow(mapping())
			}
			s.named["Filter"] = doc.Content[0]
		}
		return s.ref("Filter")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return typed("string")
	case reflect.Bool:
		return typed("boolean")
	case reflect.Float64:
		return typed("number")
	case reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint64:
		return typed("integer")
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return typed("string", "contentEncoding", "base64")
		}
		return typed("array", "items", s.of(t.Elem()))
	case reflect.Map:
		return typed("object", "additionalProperties", s.of(t.Elem()))
	case reflect.Struct:
		s.add(t)
		return s.ref(t.Name())
	}
	s.fail(fmt.Errorf("no schema for %s", t))
	return flow(mapping())
}

// idPattern is the text of an id; empty for the zero id (memory.ID.String).
const idPattern = "^([0-9a-hjkmnp-tv-z]{26})?$"

func (s *schemas) ref(name string) *yaml.Node { return flow(mapping("$ref", s.refs+name)) }

func (s *schemas) add(t reflect.Type) {
	name := t.Name()
	if was := s.types[name]; was != nil {
		if was != t {
			s.fail(fmt.Errorf("%s and %s have one name", was, t))
		}
		return
	}
	s.types[name] = t
	props, required := mapping(), []string{}
	s.fields(t, props, &required)
	m := mapping("type", "object")
	if len(required) > 0 {
		slices.Sort(required)
		l := flow(list())
		for _, r := range required {
			l.Content = append(l.Content, nodeOf(r))
		}
		add(m, "required", l)
	}
	if s.closed || strings.HasSuffix(name, "Request") {
		add(m, "additionalProperties", false)
	}
	add(m, "properties", props)
	s.named[name] = m
}

// fields adds the fields of a struct. A field without omitempty is always
// present in an answer, and required in a request.
func (s *schemas) fields(t reflect.Type, props *yaml.Node, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			s.fields(f.Type, props, required)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		what := s.of(f.Type)
		if c := s.comment(t, f.Name); c != "" {
			add(what, "description", c)
		}
		add(props, name, what)
		if options == "" {
			*required = append(*required, name)
		}
	}
}

// ofParam returns the schema of a parameter.
func (s *schemas) ofParam(p *serve.Param) *yaml.Node {
	what := s.of(p.Type)
	if p.Type == reflect.TypeFor[filter.Filter]() {
		what = typed("string") // the JSON form
	}
	if p.Enum != nil {
		what = enum(p.Enum...)
	}
	text := p.Type.Kind() == reflect.String
	for _, limit := range []struct{ name, value string }{{"minimum", p.Min}, {"maximum", p.Max}} {
		if n, err := strconv.Atoi(limit.value); err == nil {
			if text {
				limit.name = strings.TrimSuffix(limit.name, "imum") + "Length"
			}
			add(what, limit.name, n)
		}
	}
	if p.Default != "" {
		var v any = p.Default
		if !text {
			if err := yaml.Unmarshal([]byte(p.Default), &v); err != nil {
				s.fail(err)
			}
		}
		add(what, "default", v)
	}
	return what
}

// comment returns the comment of a field in the source.
func (s *schemas) comment(t reflect.Type, field string) string {
	pkg := t.PkgPath()
	if s.comments[pkg] == nil {
		found, err := readComments(filepath.Join(s.root, strings.TrimPrefix(pkg, module)))
		if err != nil {
			s.fail(err)
			found = map[string]string{}
		}
		s.comments[pkg] = found
	}
	return s.comments[pkg][t.Name()+"."+field]
}

// readComments reads the comments of fields in a folder's Go files: the comment
// above a field, or else the one behind it.
func readComments(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range of.Fields.List {
					text := field.Doc.Text()
					if text == "" {
						text = field.Comment.Text()
					}
					for _, id := range field.Names {
						out[spec.Name.Name+"."+id.Name] = strings.Join(strings.Fields(text), " ")
					}
				}
			}
			return true
		})
	}
	return out, nil
}
