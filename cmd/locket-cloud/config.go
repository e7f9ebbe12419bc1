package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cmd/internal/suggest"
)

// A flag of serve is a setting: it may be given in a file, in the environment,
// or on the command line, the later the stronger. In the file it has the flag's
// name, in the environment LOCKET_CLOUD_ before it, in capitals, with
// underscores.

// prefix of variables.
const prefix = "LOCKET_CLOUD_"

// fileVariable names the file, as --config does.
const fileVariable = prefix + "CONFIG"

func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settings gives a command --config and what it reads.
func settings(cmd *cobra.Command, environ func() []string) {
	file := cmd.Flags().String("config", "", "`file` of settings, TOML: each is a flag's name; also "+fileVariable)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		env := map[string]string{}
		for _, e := range environ() {
			if k, v, _ := strings.Cut(e, "="); strings.HasPrefix(k, prefix) {
				env[k] = v
			}
		}
		*file = cmp.Or(*file, env[fileVariable])
		delete(env, fileVariable)
		if *file != "" {
			if err := readSettings(cmd.Flags(), *file); err != nil {
				return fmt.Errorf("%w: %w", errUsage, err)
			}
		}
		if err := readVariables(cmd.Flags(), env); err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		return nil
	}
}

// given says which settings the command line has: they stay as they are.
func given(fl *pflag.FlagSet, name string) bool {
	f := fl.Lookup(name)
	return f.Changed && f.Annotations[byUs] == nil
}

// byUs marks what a file or a variable has set.
const byUs = "locket-cloud"

func set(fl *pflag.FlagSet, name string, values []string) error {
	if given(fl, name) {
		return nil
	}
	if list, ok := fl.Lookup(name).Value.(pflag.SliceValue); ok {
		if err := list.Replace(values); err != nil {
			return err
		}
	} else if len(values) != 1 {
		return fmt.Errorf("%s takes one value", name)
	} else if err := fl.Set(name, values[0]); err != nil {
		return err
	}
	return fl.SetAnnotation(name, byUs, []string{})
}

func readVariables(fl *pflag.FlagSet, env map[string]string) (err error) {
	fl.VisitAll(func(f *pflag.Flag) {
		v, ok := env[variable(f.Name)]
		delete(env, variable(f.Name))
		if !ok || f.Name == "config" || f.Name == "help" {
			return
		}
		values := []string{v}
		if _, list := f.Value.(pflag.SliceValue); list {
			values = strings.Split(v, ",")
		}
		if e := set(fl, f.Name, values); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", variable(f.Name), e))
		}
	})
	for name := range env {
		err = errors.Join(err, fmt.Errorf("%s is no setting", name))
	}
	return err
}

// meant asks whether a setting was meant that is spelled nearly so.
func meant(fl *pflag.FlagSet, name string) string {
	var names []string
	fl.VisitAll(func(f *pflag.Flag) {
		if f.Name != "config" && f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	if guesses := suggest.Words(names, name); len(guesses) > 0 {
		return "\n" + suggest.Sentence(guesses)
	}
	return ""
}

func readSettings(fl *pflag.FlagSet, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var file map[string]any
	if err := toml.NewDecoder(bytes.NewReader(data)).Decode(&file); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := e.Position()
			return fmt.Errorf("%s:%d: %s", path, line, strings.TrimPrefix(e.Error(), "toml: "))
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if fl.Lookup(name) == nil || name == "config" || name == "help" {
			return fmt.Errorf("%s: %q is no setting%s", path, name, meant(fl, name))
		}
		var values []string
		switch v := file[name].(type) {
		case []any:
			for _, x := range v {
				values = append(values, fmt.Sprint(x))
			}
		case map[string]any:
			return fmt.Errorf("%s: %q is a table; settings stand alone", path, name)
		default:
			values = []string{fmt.Sprint(v)}
		}
		if err := set(fl, name, values); err != nil {
			return fmt.Errorf("%s: %s: %w", path, name, err)
		}
	}
	return nil
}
