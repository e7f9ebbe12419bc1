// Command openapi writes docs/openapi.yaml, and openapi.yaml.zst, from the table of routes in package
// serve, and docs/memory.schema.json: `go generate ./docs`. The description of a field is its comment in the
// source, so the command has to run within the repository.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"gopkg.in/yaml.v3"

	"github.com/locket-dev/locket/node/serve"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: openapi FILE SCHEMA")
		os.Exit(2)
	}
	b, err := document()
	if err == nil {
		err = write(os.Args[1], b)
	}
	if err == nil {
		b, err = memorySchema()
	}
	if err == nil {
		err = os.WriteFile(os.Args[2], b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write writes the document for people, and beside it, compressed, for the binaries.
func write(path string, b []byte) error {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, b, 0o644), os.WriteFile(path+".zst", e.EncodeAll(b, nil), 0o644), e.Close())
}

// made comes after the first line, which says what the file is.
const made = "\n# Made by go generate ./docs from the table of routes in node/serve. Not to be edited.\n"

//go:embed head.md
var head string

// root finds the repository's folder above the working directory.
func root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("not within the repository")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// document returns the whole document.
func document() ([]byte, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	s := newSchemas(dir)
	s.of(problemType)
	about := head
	for _, k := range serve.Problems() {
		about += fmt.Sprintf("| `%s` | %d | %s |\n", k.Type, k.Status, k.Title)
	}
	paths := mapping()
	for _, e := range serve.Endpoints() {
		ops := lookUp(paths, e.Path)
		if ops == nil {
			ops = mapping()
			add(paths, e.Path, ops)
		}
		add(ops, strings.ToLower(e.Method), operation(s, &e))
	}
	doc := mapping("openapi", "3.1.0",
		"info", mapping("title", "Locket's local API", "version", "v1",
			"license", flow(mapping("name", "Apache-2.0", "identifier", "Apache-2.0")), "description", literal(about)),
		"servers", list(flow(mapping("url", "http://localhost"))),
		"security", list(flow(mapping()), flow(mapping("token", list()))),
		"paths", paths,
		"components", mapping(
			"securitySchemes", mapping("token", flow(mapping("type", "http", "scheme", "bearer", "description", "over TCP the owner's token; anywhere the key of an app, which may do what x-locket-right says and its owner allowed"))),
			"responses", mapping("Problem", mapping("description", "It was refused, or it failed",
				"content", mapping(serve.MediaTypeProblem, mapping("schema", s.of(problemType))))),
			"schemas", s.all()))
	if s.err != nil {
		return nil, s.err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err = enc.Encode(doc)
	err = errors.Join(err, enc.Close())
	first, rest, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	return slices.Concat(first, []byte(made), rest), err
}

func operation(s *schemas, e *serve.Endpoint) *yaml.Node {
	op := mapping("operationId", e.ID, "summary", e.Summary, "x-locket-right", string(e.Needs))
	if e.About != "" {
		add(op, "description", e.About)
	}
	if len(e.Params) > 0 {
		params := list()
		for i := range e.Params {
			params.Content = append(params.Content, parameter(s, &e.Params[i]))
		}
		add(op, "parameters", params)
	}
	if len(e.Takes) > 0 {
		add(op, "requestBody", mapping("required", !e.Optional, "content", content(s, e.Takes)))
	}
	add(op, "responses", mapping(
		strconv.Itoa(e.Status), mapping("description", e.Gives, "content", content(s, e.Answers)),
		"default", flow(mapping("$ref", "#/components/responses/Problem"))))
	return op
}

func content(s *schemas, formats []serve.Format) *yaml.Node {
	out := mapping()
	for _, f := range formats {
		what := flow(mapping())
		if f.Type != nil {
			what = s.of(f.Type)
		} else {
			for _, key := range []string{"type", "format"} {
				if v := f.Schema[key]; v != nil {
					add(what, key, v)
				}
			}
		}
		add(out, f.Media, mapping("schema", what))
	}
	return out
}

func parameter(s *schemas, p *serve.Param) *yaml.Node {
	what := s.ofParam(p)
	out := mapping("name", p.Name, "in", p.In)
	if p.In == "path" {
		add(out, "required", true)
	}
	add(out, "schema", what)
	if p.Doc != "" {
		add(out, "description", p.Doc)
	}
	return flow(out)
}
