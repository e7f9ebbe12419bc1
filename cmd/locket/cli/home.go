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
	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/internal/suggest"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func (a *App) InitCommand() *cobra.Command {
	var file string
	var noCheck bool
	var o InitOptions
	c := &cobra.Command{
		Use: "init", Short: "Make a home: a folder with its keys, and 24 words to recover them", Args: Nothing(),
		Long: `Makes the node's folder with its keys, and prints 24 words, once. The words recover the
keys. Write them down: they are kept nowhere.

A passphrase, a key file in the home, or the OS keyring opens the keys. The passphrase
is asked for, or read from a file. With a key file in the home, anyone who has the disk
has the memories.`,
		Example: `  locket init
  locket init --passphrase-file ~/.locket-pass --wearer Maja --zone Europe/Berlin
  locket init --home /tmp/try --key-file --no-check`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.Load()
			if err != nil {
				return err
			}
			if file != "" || !o.KeyFile && !o.Keyring {
				if o.Passphrase, err = a.NewPassphrase(file); err != nil {
					return err
				}
			}
			phrase, err := a.InitHome(l.Config, o)
			if err != nil {
				return err
			}
			written, err := a.WriteSettings(l, file, &o)
			if err != nil {
				return err
			}
			if a.Json {
				return a.Print(initialised{l.Home, written, strings.Fields(phrase), VaultNote}, nil)
			}
			a.ShowPhrase(l.Home, written, phrase)
			if noCheck {
				return nil
			}
			return a.checkPhrase(strings.Fields(phrase))
		},
	}
	f := c.Flags()
	f.StringVar(&file, "passphrase-file", "", "read the passphrase from a `file`, at each start as well")
	f.BoolVar(&o.KeyFile, "key-file", false, "keep a key file in the home")
	f.BoolVar(&o.Keyring, "keyring", false, "keep a key in the OS keyring")
	f.StringVar(&o.Language, "words", "en", "`language` of the 24 words: en or zh")
	Choose(f, "words", "en", "zh")
	f.BoolVar(&noCheck, "no-check", false, "do not ask for some of the words")
	f.Var(a.Setting("wearer", "--wearer"), "wearer", "whose memory it is: a `name`")
	f.Var(a.Setting("zone", "--zone"), "zone", "the wearer's `zone`, such as Europe/Berlin")
	return c
}

// initialised is what init prints with --json.
type initialised struct {
	Home   string   `json:"home"`
	Config string   `json:"config,omitempty"` // the file that was written
	Phrase []string `json:"recovery_phrase"`
	Note   string   `json:"note"`
}

const VaultNote = "Secrets in the vault are not synced: if this machine is lost, the words do not bring them back."

// Of a new passphrase that can't be taken. Another may be asked for.
var ErrTooShort = fmt.Errorf("the passphrase has fewer than %d characters", serve.MinPassphrase)

var ErrNotSame = errors.New("the two are not the same; nothing was made")

func (a *App) NewPassphrase(file string) (serve.Secret, error) {
	p, err := a.Passphrase(file, "New passphrase: ")
	if err != nil {
		return "", err
	}
	if err := longEnough(p); err != nil {
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

func longEnough(p serve.Secret) error {
	if len([]rune(string(p))) < serve.MinPassphrase {
		return ErrTooShort
	}
	return nil
}

// WriteSettings keeps in the home what was chosen on the command line, so that
// later commands know it. A file that is there is left as it is.
func (a *App) WriteSettings(l *config.Loaded, passphraseFile string, o *InitOptions) (path string, err error) {
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
	if _, err := os.Stat(path); err == nil || len(keep) == 0 {
		return "", nil
	}
	b, err := toml.Marshal(keep)
	if err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, b)
}

// SetKeys are the settings that --set gave, but for the home's place.
func (a *App) SetKeys() (keys []string) {
	for _, f := range a.Flags {
		if f.Name == SetName && f.Key != "home" {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// KeepSet adds what --set gave to the settings of a new home.
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

// SetTable puts a table into the file of settings, in place of one of that name; nil
// takes it out. The rest of the file stays as it is, comments too.
func (a *App) SetTable(name string, table map[string]any) error {
	path := cmp.Or(a.Settings.File, filepath.Join(a.Settings.Home, config.FileName))
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	was, is := map[string]any{}, map[string]any{}
	b2 := WithoutTable(b, name)
	if err := errors.Join(toml.Unmarshal(b, &was), toml.Unmarshal(b2, &is)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if delete(was, name); !reflect.DeepEqual(was, is) { // it is written in another way
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

// WithoutTable takes the lines of a table out of a TOML file. Comments before the next
// table stay.
func WithoutTable(b []byte, name string) []byte {
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

func (a *App) ShowPhrase(home, written, phrase string) {
	w := a.Stdout
	fmt.Fprintf(w, "The node's home is %s\n", home)
	if written != "" {
		fmt.Fprintf(w, "Its settings are in %s\n", written)
	}
	fmt.Fprintf(w, "\nThese 24 words recover its keys. Write them down; they are shown this once and kept nowhere:\n\n")
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

// checkPhrase asks for three of the words, three times at most.
func (a *App) checkPhrase(words []string) error {
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
					return errors.New("the words were not checked: the home is made all the same, and the words above are good")
				}
				break
			}
		}
		if wrong == 0 {
			fmt.Fprintln(a.Stdout, "Right. The node is ready: "+a.Here("locket run"))
			return nil
		}
		fmt.Fprintf(a.Stderr, "That is not word %d. Look at the list above.\n", wrong)
	}
	return errors.New("the words were not checked: the home is made all the same, and the words above are good")
}

func (a *App) ConfigCommand() *cobra.Command {
	return &cobra.Command{
		Use: "config [KEY...]", Short: "Show every setting and where it comes from", Args: Between(0, -1, ""),
		Long: `Settings come from three places. A later one overrides an earlier one:

  config.toml   in the home, or in the platform's config folder
  LOCKET_…      environment variables: LOCKET_BROKER_URL is broker.url
  flags         --set broker.url=…

To change one, write it to config.toml, as languages = ["en", "zh"] or retention.rules =
["tag:work 30d"], above the first line in brackets. A daemon reads it when it starts.`,
		Example: `  locket config
  locket config broker.url api.listen
  locket --set log.level=debug run`,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.Load()
			if err != nil {
				return err
			}
			file := cmp.Or(l.File, filepath.Join(l.Home, config.FileName))
			for i, key := range args {
				name, _, assigned := strings.Cut(key, "=")
				switch {
				case slices.Contains(config.Keys(), key):
				case i > 0 || assigned && slices.Contains(config.Keys(), name):
					return Usagef("%q is not a setting; to change one, write it to %s, and start the daemon anew", key, file)
				case slices.Contains([]string{"get", "set", "list", "show", "edit"}, key):
					return Usagef("%s", a.Heref("%q is not a setting; locket config shows them all, and locket config KEY one; to change one, write it to %s, and start the daemon anew", key, file))
				default:
					return UsageError{Meant(fmt.Errorf("%q is not a setting", key), suggest.Words(config.Keys(), key))}
				}
			}
			width := 0
			for _, s := range l.Settings() {
				width = max(width, len(s.Value))
			}
			for _, s := range l.Settings() {
				if len(args) > 0 && !slices.Contains(args, s.Key) {
					continue
				}
				err := a.Print(s, func(w io.Writer) {
					fmt.Fprintf(w, "%-26s %-*s  %s\n", s.Key, min(width, 48), s.Value, a.Paint.Dim(s.Origin.String()))
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}
