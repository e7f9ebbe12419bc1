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

// Each flag of serve is a setting: it can be given in a file, in the environment, or on the command
// line. The later of these overrides the earlier. In the file it has the flag's name; in the
// environment it has the prefix LOCKET_CLOUD_, capitals and underscores.

// prefix is the prefix of environment variables.
const prefix = "LOCKET_CLOUD_"

// fileVariable is the environment variable that names the file, like --config.
const fileVariable = prefix + "CONFIG"

func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settings adds --config to a command, and makes it read the file and the environment.
func settings(cmd *cobra.Command, environ func() []string) {
	file := cmd.Flags().String("config", "", "TOML `file` of settings, with the names of flags as keys; also "+fileVariable)
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

// isSet reports whether the command line has a setting, which then is not overridden.
func isSet(fl *pflag.FlagSet, name string) bool {
	f := fl.Lookup(name)
	return f.Changed && f.Annotations[byUs] == nil
}

// byUs marks a flag that a file or a variable has set.
const byUs = "locket-cloud"

func set(fl *pflag.FlagSet, name string, values []string) error {
	if isSet(fl, name) {
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
		err = errors.Join(err, fmt.Errorf("%s is not a setting", name))
	}
	return err
}

// meant asks whether a setting with a similar name was meant.
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
			return fmt.Errorf("%s: %q is not a setting%s", path, name, meant(fl, name))
		}
		var values []string
		switch v := file[name].(type) {
		case []any:
			for _, x := range v {
				values = append(values, fmt.Sprint(x))
			}
		case map[string]any:
			return fmt.Errorf("%s: %q is a table; settings must not be in tables", path, name)
		default:
			values = []string{fmt.Sprint(v)}
		}
		if err := set(fl, name, values); err != nil {
			return fmt.Errorf("%s: %s: %w", path, name, err)
		}
	}
	return nil
}
