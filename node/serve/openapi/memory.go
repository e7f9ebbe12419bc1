package main

import (
	"bytes"
	"encoding/json"
	"reflect"

	"gopkg.in/yaml.v3"

	"github.com/locket-dev/locket/memory"
)

// memorySchema returns the JSON Schema of a memory, for programs that receive memories
// and need to know their form. It is stricter than the API document: an object has only
// the properties of its type, and a memory has only the fields of its own type.
func memorySchema() ([]byte, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	s := newSchemas(dir)
	s.refs, s.closed = "#/$defs/", true
	s.of(reflect.TypeFor[memory.Memory]())
	if s.err != nil {
		return nil, s.err
	}
	whole := s.named["Memory"]
	delete(s.named, "Memory")
	confidence := lookUp(lookUp(whole, "properties"), "confidence")
	add(confidence, "minimum", 0)
	add(confidence, "maximum", 1)
	types := list()
	for _, t := range memory.Types {
		types.Content = append(types.Content, mapping(
			"if", mapping("properties", mapping("type", mapping("const", string(t)))),
			"then", mapping("properties", mapping("fields", mapping("propertyNames", mapping("const", string(t)))))))
	}
	doc := mapping("$schema", "https://json-schema.org/draft/2020-12/schema", "title", "A memory of Locket",
		"description", "As GET /v1/memories/{id}, lists and hits have it. Made by go generate ./docs from package memory; not to be edited.")
	doc.Content = append(doc.Content, whole.Content...)
	add(doc, "allOf", types)
	add(doc, "$defs", s.all())
	var b, out bytes.Buffer
	if err := writeJSON(&b, doc); err != nil {
		return nil, err
	}
	err = json.Indent(&out, b.Bytes(), "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

// writeJSON writes a node as JSON, with its keys in their order.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			key, err := json.Marshal(n.Content[i].Value)
			if err != nil {
				return err
			}
			b.Write(append(key, ':'))
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, one := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, one); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	b.Write(text)
	return err
}
