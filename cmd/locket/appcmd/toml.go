package appcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/locket-dev/locket/internal/sorting"
)

// enteredTOML returns a TOML file before and after the table [list.locket], which starts a command,
// is added, and the new lines. If the table exists, only its command and args change: what the host
// or its user has added to it stays. was is nil if the file does not exist.
func enteredTOML(file, list, command string, args []string) (was, now []byte, shown string, err error) {
	if was, err = readSettings(file); err != nil {
		return nil, nil, "", err
	}
	values := []struct{ key, line string }{{"command", ""}, {"args", ""}}
	for i, v := range []any{command, args} {
		text, err := json.Marshal(v) // JSON strings and arrays of strings are also valid TOML
		if err != nil {
			return nil, nil, "", err
		}
		values[i].line = values[i].key + " = " + string(text)
	}
	header := "[" + list + ".locket]"
	lines := header + "\n" + values[0].line + "\n" + values[1].line
	shown = "+ " + strings.ReplaceAll(lines, "\n", "\n+ ")
	byHand := fmt.Errorf("%s has %q in a form that Locket does not change. Add this yourself:\n%s", file, list, lines)

	before, err := tableOf(was)
	if err != nil {
		return nil, nil, "", fmt.Errorf("%s is not valid TOML (%w). Correct it, or add this yourself:\n%s", file, err, lines)
	}
	t, err := findTable(was, []string{list, "locket"})
	if err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", file, err)
	}
	end := "\n"
	if bytes.Contains(was, []byte("\r\n")) {
		end = "\r\n"
	}
	now = slices.Clone(was)
	if t.header < 0 {
		if len(now) > 0 {
			if now[len(now)-1] != '\n' {
				now = append(now, end...)
			}
			now = append(now, end...)
		}
		now = append(now, strings.ReplaceAll(lines, "\n", end)+end...)
	} else {
		// From the end of the file to its beginning, so that offsets stay right.
		sorting.Sort(values, func(a, b struct{ key, line string }) int { return t.at(b.key).from - t.at(a.key).from })
		for _, v := range values {
			at, text := t.at(v.key), v.line
			if at.from == at.to { // the key does not exist yet
				text = end + text
			}
			now = slices.Replace(now, at.from, at.to, []byte(text)...)
		}
	}
	// A safeguard for any form of file: nothing but these two values may have changed.
	if !setOnly(before, now, list, map[string]any{"command": command, "args": anyList(args)}) {
		return nil, nil, "", byHand
	}
	return was, now, shown, nil
}

// stretch is a part of a file, in bytes.
type stretch struct{ from, to int }

// foundTable is the place of a table in a file.
type foundTable struct {
	header int // end of the header's line; -1 if there is no such header
	values map[string]stretch
}

// at returns where a key is with its value, or where it has to be inserted.
func (t *foundTable) at(key string) stretch {
	if s, ok := t.values[key]; ok {
		return s
	}
	return stretch{t.header, t.header}
}

// findTable looks for the header of a table, and for the plain keys under it.
func findTable(data []byte, path []string) (*foundTable, error) {
	t := &foundTable{header: -1, values: map[string]stretch{}}
	var p unstable.Parser
	p.Reset(data)
	inside := false
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		last := 0 // end of the key's last part
		for it := e.Key(); it.Next(); {
			n := it.Node()
			key, last = append(key, string(n.Data)), int(n.Raw.Offset+n.Raw.Length)
		}
		switch {
		case e.Kind != unstable.KeyValue:
			if inside = e.Kind == unstable.Table && slices.Equal(key, path); inside {
				t.header = lineEnd(data, last)
			}
		case inside && len(key) == 1:
			from := int(e.Raw.Offset)
			raw := bytes.TrimRight(p.Raw(e.Raw), " \t")
			t.values[key[0]] = stretch{from, from + len(raw)}
		}
	}
	return t, p.Error()
}

// lineEnd returns the end of the line that contains an offset.
func lineEnd(data []byte, at int) int {
	line, _, _ := bytes.Cut(data[at:], []byte("\n"))
	return at + len(bytes.TrimSuffix(line, []byte("\r")))
}

func tableOf(data []byte) (map[string]any, error) {
	table := map[string]any{}
	err := toml.Unmarshal(data, &table)
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := e.Position()
		err = fmt.Errorf("line %d: %s", line, strings.TrimPrefix(e.Error(), "toml: "))
	}
	return table, err
}

// setOnly reports whether now differs from before only in these values of the table list.locket, and
// whether that table names no address.
func setOnly(before map[string]any, now []byte, list string, values map[string]any) bool {
	after, err := tableOf(now)
	if err != nil {
		return false
	}
	servers, ok := before[list].(map[string]any)
	if !ok {
		if before[list] != nil {
			return false
		}
		servers = map[string]any{}
		before[list] = servers
	}
	entry, ok := servers["locket"].(map[string]any)
	if !ok {
		if servers["locket"] != nil {
			return false
		}
		entry = map[string]any{}
		servers["locket"] = entry
	}
	maps.Copy(entry, values)
	return entry["url"] == nil && reflect.DeepEqual(before, after)
}

func anyList(of []string) []any {
	list := make([]any, len(of))
	for i, s := range of {
		list[i] = s
	}
	return list
}
