package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// AddSettings writes a settings file that has what the file from has, and also the settings of a new
// home. If from has another value for one of them, that value stays, and a person is told. If they
// can't be added to its text, AddSettings writes nothing and says what to write.
func (a *App) AddSettings(from, to string, settings map[string]any) (written bool, err error) {
	b, err := os.ReadFile(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	b2, other, err := addSettings(b, settings)
	if err != nil {
		text, merr := toml.Marshal(settings)
		if merr != nil {
			return false, merr
		}
		fmt.Fprintf(a.Stderr, "%s was not changed: %v. Write this into it:\n%s", from, err, text)
		return false, nil
	}
	for _, key := range other {
		fmt.Fprintf(a.Stderr, "%s already has another %s, which was not changed.\n", from, key)
	}
	if bytes.Equal(b, b2) {
		return false, nil
	}
	return true, atomicfile.Write(to, b2)
}

// addSettings adds to the text of a TOML file the settings that it lacks. The names in other are those
// for which the file has another value. The rest of the text stays as it is, with its comments.
func addSettings(b []byte, settings map[string]any) (_ []byte, other []string, err error) {
	has, is := map[string]any{}, map[string]any{}
	if err := toml.Unmarshal(b, &has); err != nil {
		return nil, nil, err
	}
	lacks := map[string]map[string]any{} // by the name of the table
	other = lacking(has, settings, "", lacks)
	for _, table := range slices.Sorted(maps.Keys(lacks)) {
		text, err := toml.Marshal(lacks[table])
		if err != nil {
			return nil, nil, err
		}
		b = intoTable(b, table, text)
	}
	if err := toml.Unmarshal(b, &is); err != nil || !reflect.DeepEqual(merged(has, settings), is) {
		return nil, nil, errors.New("it has a table in a form that this command does not extend")
	}
	return b, other, nil
}

// lacking adds to lacks the settings that has does not have, and returns the names of those for which
// it has another value.
func lacking(has, settings map[string]any, table string, lacks map[string]map[string]any) (other []string) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		value, name := settings[key], strings.TrimPrefix(table+"."+key, ".")
		if sub, ok := value.(map[string]any); ok {
			in, _ := has[key].(map[string]any)
			other = append(other, lacking(in, sub, name, lacks)...)
			continue
		}
		switch was, there := has[key]; {
		case !there && lacks[table] == nil:
			lacks[table] = map[string]any{key: value}
		case !there:
			lacks[table][key] = value
		case fmt.Sprint(was) != fmt.Sprint(value):
			other = append(other, name)
		}
	}
	return other
}

// merged returns has with the settings that it lacks, as they are read from a file.
func merged(has, settings map[string]any) map[string]any {
	all, text := map[string]any{}, map[string]any{}
	if b, err := toml.Marshal(settings); err != nil || toml.Unmarshal(b, &text) != nil {
		return nil
	}
	maps.Copy(all, text)
	maps.Copy(all, has)
	for key, value := range text {
		in, ok := has[key].(map[string]any)
		if sub, isTable := value.(map[string]any); ok && isTable {
			all[key] = merged(in, sub)
		}
	}
	return all
}

// intoTable writes lines below the heading of a table, or makes the table at the end. The table ""
// is the beginning of the file.
func intoTable(b []byte, table string, lines []byte) []byte {
	if table == "" {
		return append(lines, b...)
	}
	at := 0
	for line := range bytes.Lines(b) {
		at += len(line)
		head, _, _ := bytes.Cut(line, []byte("#"))
		if string(bytes.TrimSpace(head)) == "["+table+"]" {
			return slices.Concat(b[:at], missingNewline(b[:at]), lines, b[at:])
		}
	}
	return slices.Concat(b, missingNewline(b), []byte("\n["+table+"]\n"), lines)
}

func missingNewline(b []byte) []byte {
	if len(b) == 0 || b[len(b)-1] == '\n' {
		return nil
	}
	return []byte("\n")
}
