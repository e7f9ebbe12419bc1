package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// takeFile reads TOML strictly. It also checks keys that the environment or a
// flag has set, but leaves their values.
func (l *Loaded) takeFile(over *Config, path string, data []byte) error {
	var file Config
	dec := toml.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return fileError(path, err)
	}
	lines, err := keyLines(data)
	if err != nil {
		return fileError(path, err)
	}
	for _, k := range keys() {
		line, written := lines[k.name]
		if !written {
			continue
		}
		if _, stronger := l.origins[k.name]; stronger {
			continue
		}
		l.origins[k.name] = Origin{Kind: FromFile, Name: path, Line: line}
		if k.kind == "path" {
			if err := l.absolute(&file, k, filepath.Dir(path)); err != nil {
				return err
			}
		}
		k.of(over).Set(k.of(&file))
	}
	return nil
}

func fileError(path string, err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		e := &strict.Errors[0]
		line, _ := e.Position()
		name := strings.Join(e.Key(), ".")
		hint := nearest(name, Keys())
		if table, key, ok := strings.Cut(name, "."); ok && slices.Contains(Keys(), key) { // it was added at the end of the file
			hint = fmt.Sprintf("; write %s above the first table, before [%s]", key, table)
		}
		return fmt.Errorf("%w: %s:%d: %q is not a setting%s", ErrConfig, path, line, name, hint)
	}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := e.Position()
		what := strings.TrimPrefix(e.Error(), "toml: ")
		if name := strings.Join(e.Key(), "."); name != "" {
			what = name + ": " + what
		}
		if strings.HasSuffix(what, " at start of value") {
			what += ": a text needs quotation marks, such as zone = \"Europe/Berlin\""
		}
		return fmt.Errorf("%w: %s:%d: %s", ErrConfig, path, line, what)
	}
	return fmt.Errorf("%w: %s: %w", ErrConfig, path, err)
}

// keyLines returns the line of each key in the file, which the decoder does not
// report.
func keyLines(data []byte) (map[string]int, error) {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			name, _ := dotted(&p, e)
			table = name + "."
		case unstable.KeyValue:
			addLines(&p, e, table, lines)
		}
	}
	return lines, p.Error()
}

func addLines(p *unstable.Parser, e *unstable.Node, prefix string, lines map[string]int) {
	name, line := dotted(p, e)
	v := e.Value()
	if v.Kind != unstable.InlineTable {
		lines[prefix+name] = line
		return
	}
	for it := v.Children(); it.Next(); {
		addLines(p, it.Node(), prefix+name+".", lines)
	}
}

func dotted(p *unstable.Parser, e *unstable.Node) (name string, line int) {
	var parts []string
	for it := e.Key(); it.Next(); {
		n := it.Node()
		parts = append(parts, string(n.Data))
		line = p.Shape(n.Raw).Start.Line
	}
	return strings.Join(parts, "."), line
}
