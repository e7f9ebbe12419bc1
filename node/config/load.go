package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/editdistance"
)

// Sources is what [Load] reads, besides the file that the sources lead to.
type Sources struct {
	Environ []string // in the form of os.Environ
	Flags   []Flag   // of two for one key, the later wins
	File    string   // --config; empty: LOCKET_CONFIG, or the file is searched for
	Dir     string   // base for relative paths in Environ and Flags; empty: the working directory
}

// Flag is a setting that was given on the command line.
type Flag struct {
	Name  string // as on the command line: "--broker"
	Key   string // "broker.url"
	Value string
}

// fileVariable names the file; it is not a setting itself.
const fileVariable = "LOCKET_CONFIG"

// Load reads the file, then the environment, then the flags; later ones override earlier ones.
// The file is Sources.File or LOCKET_CONFIG, which must exist. Otherwise, if a flag or
// variable names a home, it is config.toml in that home, so that homes stay apart. Otherwise
// it is the one in the platform's config folder, or else in the default home. Every error
// wraps [ErrConfig] and names the place.
func Load(s Sources) (*Loaded, error) {
	l := &Loaded{origins: map[string]Origin{}}
	env := variables(s.Environ)

	var over Config // the written settings, without defaults
	for _, k := range keys() {
		if v, ok := env[k.env]; ok {
			if err := l.set(&over, k, v, Origin{Kind: FromEnv, Name: k.env}, s.Dir); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range s.Flags {
		k, ok := findKey(f.Key)
		if !ok {
			return nil, fmt.Errorf("%w: %s: %q is not a setting%s", ErrFlag, f.Name, f.Key, nearest(f.Key, Keys()))
		}
		if err := l.set(&over, k, f.Value, Origin{Kind: FromFlag, Name: f.Name}, s.Dir); err != nil {
			return nil, err
		}
	}
	if err := l.readFile(&over, s.File, env[fileVariable]); err != nil {
		return nil, err
	}
	l.replace(&over)
	l.fill(&over)
	if err := l.checkVariables(env); err != nil {
		return nil, err
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	return l, nil
}

// set sets one key from text.
func (l *Loaded) set(c *Config, k key, text string, o Origin, dir string) error {
	l.origins[k.name] = o
	if err := k.parse(c, text); err != nil {
		return l.wrong(k.name, "%v", err)
	}
	if k.kind == "path" {
		return l.absolute(c, k, dir)
	}
	return nil
}

// absolute makes a path absolute: "~/" is the user's home, and a relative path starts from
// dir.
func (l *Loaded) absolute(c *Config, k key, dir string) error {
	v := k.of(c)
	p := v.String()
	if p == "" || filepath.IsAbs(p) {
		return nil
	}
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return l.wrong(k.name, "%v", err)
		}
		v.SetString(filepath.Join(home, rest))
		return nil
	}
	abs, err := filepath.Abs(filepath.Join(dir, p))
	if err != nil {
		return l.wrong(k.name, "%v", err)
	}
	v.SetString(abs)
	return nil
}

// readFile finds the file, and takes from it what the environment and flags have not set.
func (l *Loaded) readFile(over *Config, flag, variable string) error {
	var paths []string
	must := true
	switch {
	case flag != "":
		paths = []string{flag}
	case variable != "":
		paths = []string{variable}
	case over.Home != "":
		paths, must = []string{filepath.Join(over.Home, FileName)}, false
	default:
		paths, must = []string{filepath.Join(defaultHome(), FileName)}, false
		if p := platformFile(); p != "" {
			paths = []string{p, paths[0]}
		}
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) && !must {
			continue
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrConfig, err)
		}
		l.File = p
		return l.takeFile(over, p, data)
	}
	return nil
}

// exclusive are settings of which only one of each list can be in force.
var exclusive = [][]string{
	unlocks,
	{"llm.key", "llm.key_file"},
	{"dense.key", "dense.key_file"},
}

// replace drops the settings that one of a stronger source excludes.
func (l *Loaded) replace(over *Config) {
	strength := func(k key) int {
		if k.of(over).IsZero() {
			return 0
		}
		return slices.Index([]OriginKind{FromDefault, FromFile, FromEnv, FromFlag}, l.Origin(k.name).Kind)
	}
	for _, names := range exclusive {
		var most int
		var ks []key
		for _, name := range names {
			k, _ := findKey(name)
			ks, most = append(ks, k), max(most, strength(k))
		}
		for _, k := range ks {
			if s := strength(k); s > 0 && s < most {
				k.of(over).SetZero()
				delete(l.origins, k.name)
			}
		}
	}
}

// fill makes the result: the defaults that match the written settings, overridden by those. So
// a written zero is kept.
func (l *Loaded) fill(over *Config) {
	l.Config = *over
	l.Defaults()
	for _, k := range keys() {
		if _, written := l.origins[k.name]; written {
			k.of(&l.Config).Set(k.of(over))
		}
	}
}

func variables(environ []string) map[string]string {
	env := map[string]string{}
	for _, e := range environ {
		if name, v, _ := strings.Cut(e, "="); strings.HasPrefix(name, "LOCKET_") {
			env[name] = v
		}
	}
	return env
}

// checkVariables refuses a LOCKET_ variable that nothing reads. The one that
// unlock.passphrase_env names is read later.
func (l *Loaded) checkVariables(env map[string]string) error {
	known := []string{fileVariable}
	for _, k := range keys() {
		known = append(known, k.env)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if name != l.Unlock.PassphraseEnv && !slices.Contains(known, name) && !ofOthers(name) {
			return fmt.Errorf("%w: %s: not a setting%s", ErrConfig, name, nearest(name, known))
		}
	}
	return nil
}

// ofOthers reports whether another program of Locket reads a variable. A shell may have set it
// for that program.
func ofOthers(name string) bool {
	return name == "LOCKET_APP_KEY" || name == "LOCKET_JOBS_DB" || strings.HasPrefix(name, "LOCKET_CLOUD_") || strings.HasPrefix(name, "LOCKET_RELEASE_")
}

// nearest returns "; did you mean …?" if a known name is at most two edits away.
func nearest(name string, known []string) string {
	best, at := 3, ""
	for _, k := range known {
		if d := editdistance.Of([]byte(name), []byte(k)); d < best {
			best, at = d, k
		}
	}
	if at == "" {
		return ""
	}
	return "; did you mean " + at + "?"
}
