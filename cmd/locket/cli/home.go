package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

const VaultNote = "Secrets in the vault are not synced: if this machine is lost, the words do not bring them back."

// ErrTooShort and ErrNotSame refuse a new passphrase. The person may be asked for another.
var ErrTooShort = fmt.Errorf("the passphrase has fewer than %d characters", serve.MinPassphrase)

var ErrNotSame = errors.New("the two passphrases differ; nothing was created")

func (a *App) NewPassphrase(file string) (serve.Secret, error) {
	p, err := a.Passphrase(file, "New passphrase: ")
	if err != nil {
		return "", err
	}
	if err := CheckLength(p); err != nil {
		return "", err
	}
	if file == "" {
		again, err := a.AskPassphrase("Once more: ")
		if err != nil {
			return "", err
		}
		if again != p {
			return "", ErrNotSame
		}
	}
	return p, nil
}

func CheckLength(p serve.Secret) error {
	if len([]rune(string(p))) < serve.MinPassphrase {
		return ErrTooShort
	}
	return nil
}

// WriteSettings saves in the home what was chosen on the command line, so that later commands know
// it. It adds that to what is in the file from, if there is one.
func (a *App) WriteSettings(l *config.Loaded, from, passphraseFile string, o *InitOptions) (path string, err error) {
	keep := map[string]any{}
	for key, value := range map[string]string{"wearer": l.Wearer, "zone": l.Zone} {
		if l.Origin(key).Kind == config.FromFlag {
			keep[key] = value
		}
	}
	if l.Origin("languages").Kind == config.FromFlag {
		keep["languages"] = l.Languages
	}
	unlock := map[string]any{}
	if passphraseFile != "" {
		abs, err := filepath.Abs(passphraseFile)
		if err != nil {
			return "", err
		}
		unlock["passphrase_file"] = abs
	} else if o.Keyring {
		unlock["keyring"] = true
	}
	if len(unlock) > 0 {
		keep["unlock"] = unlock
	}
	a.KeepSet(keep, l)
	path = filepath.Join(l.Home, config.FileName)
	if written, err := a.AddSettings(from, path, keep); err != nil || !written {
		return "", err
	}
	return path, nil
}

// SetKeys returns the keys of the settings that --set gave, except for the home.
func (a *App) SetKeys() (keys []string) {
	for _, f := range a.Flags {
		if f.Name == SetName && f.Key != "home" {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// KeepSet adds the settings that --set gave to those of a new home.
func (a *App) KeepSet(keep map[string]any, l *config.Loaded) {
	for _, key := range a.SetKeys() {
		into := keep
		tables := strings.Split(key, ".")
		last := len(tables) - 1
		for _, name := range tables[:last] {
			if _, ok := into[name].(map[string]any); !ok {
				into[name] = map[string]any{}
			}
			into = into[name].(map[string]any)
		}
		into[tables[last]] = l.ForFile(key)
	}
}

// SetTable writes a table to the configuration file and replaces one of that name. A nil table
// removes it. The rest of the file stays unchanged, with its comments.
func (a *App) SetTable(name string, table map[string]any) error {
	path := cmp.Or(a.Settings.File, filepath.Join(a.Settings.Home, config.FileName))
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	was, is := map[string]any{}, map[string]any{}
	b2 := withoutTable(b, name)
	if err := errors.Join(toml.Unmarshal(b, &was), toml.Unmarshal(b2, &is)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if delete(was, name); !reflect.DeepEqual(was, is) { // the table is written in another form
		return fmt.Errorf("%s: no table [%s] that can be replaced: change it by hand", path, name)
	}
	if table != nil {
		add, err := toml.Marshal(map[string]any{name: table})
		if err != nil {
			return err
		}
		if b2 = bytes.TrimRight(b2, "\n"); len(b2) > 0 {
			b2 = append(b2, "\n\n"...)
		}
		b2 = append(b2, add...)
	}
	return atomicfile.Write(path, b2)
}

// withoutTable removes the lines of a table from a TOML file. Comments before the next table stay.
func withoutTable(b []byte, name string) []byte {
	var out, held []byte
	in := false
	for line := range bytes.Lines(b) {
		text := bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(text, []byte("[")):
			head, _, _ := bytes.Cut(text, []byte("#"))
			if in = string(bytes.TrimSpace(head)) == "["+name+"]"; in {
				held = nil
				continue
			}
			out, held = append(out, held...), nil
		case in && (len(text) == 0 || text[0] == '#'):
			held = append(held, line...)
			continue
		case in:
			held = nil
			continue
		}
		out = append(out, line...)
	}
	return append(out, held...)
}

// PhraseOut returns where the recovery phrase is printed: if its words are asked for afterwards, where
// the questions are, because standard output may be a file.
func (a *App) PhraseOut(check bool) io.Writer {
	if check {
		return a.Stderr
	}
	return a.Stdout
}

func (a *App) ShowPhrase(w io.Writer, home, written, phrase string) {
	fmt.Fprintf(w, "The node's home is %s\n", home)
	if written != "" {
		fmt.Fprintf(w, "Its settings are in %s\n", written)
	}
	fmt.Fprintf(w, "\nThese 24 words recover its keys. Write them down: they are shown only once and are not stored anywhere.\n\n")
	words, n := strings.Fields(phrase), 0
	for row := range slices.Chunk(words, 4) {
		var line strings.Builder
		for _, word := range row {
			n++
			fmt.Fprintf(&line, "  %2d %-10s", n, word)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
	fmt.Fprintf(w, "\n%s\n", VaultNote)
}

// CheckPhrase asks for three of the words, at most three times.
func (a *App) CheckPhrase(words []string) error {
	ask := rand.Perm(len(words))[:min(3, len(words))]
	slices.Sort(ask)
	for range 3 {
		wrong := 0
		for _, i := range ask {
			fmt.Fprintf(a.Stderr, "Word %d: ", i+1)
			line, err := a.In.ReadString('\n')
			if strings.TrimSpace(strings.ToLower(line)) != words[i] {
				wrong = i + 1
				if err != nil {
					fmt.Fprintln(a.Stderr)
					return errors.New("the words were not checked; the home exists all the same, and the words above are valid")
				}
				break
			}
		}
		if wrong == 0 {
			fmt.Fprintln(a.Stdout, "Right. The node is ready: "+a.WithHome("locket run"))
			return nil
		}
		fmt.Fprintf(a.Stderr, "That is not word %d. Look at the list above.\n", wrong)
	}
	return errors.New("the words were not checked; the home exists all the same, and the words above are valid")
}
