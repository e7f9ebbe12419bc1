package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// setupOptions are the answers that flags give.
type setupOptions struct {
	init           initOptions
	passphraseFile string
	noCheck        bool
	wearable       string
	engines        map[string]*string // by kind: an address, "auto" or "none"; of a mind with its model
	atLogin        bool
	say            string
	backup         string
	backupFile     string // of the backup's passphrase
}

func newSetupOptions() *setupOptions {
	o := &setupOptions{engines: map[string]*string{}}
	for _, kind := range serve.EngineKinds {
		o.engines[kind] = new(string)
	}
	return o
}

// none is the answer of a flag to a step that is to be skipped.
const none = "none"

func (a *app) setupCommand() *cobra.Command {
	o := newSetupOptions()
	c := &cobra.Command{
		Use: "setup", Short: "Set everything up, step by step", Args: nothing(),
		Long: `Makes the home with its keys and 24 words, and asks for your name, the languages that are
spoken around you, a wearable, engines that hear, read and think, whether Locket starts when
you log in, a first thing to remember, and where backups go.
Each step can be skipped, and done later: run locket setup again, or the command that the
step names. Where you end it before the words are checked, nothing is made. locket open does
the same in the browser.

Without a terminal nothing is asked. Flags give the answers, and a step without one is
skipped. What --set gives is written to the settings of a new home. The home needs --passphrase-file, --keyring or --key-file then.`,
		Example: `  locket setup
  locket setup --key-file --wearer Maja --languages de,en --wearable pendant --ears auto --eyes tesseract
  locket setup --mind "http://127.0.0.1:11434/v1 qwen3:8b"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.setup(cmd.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.passphraseFile, "passphrase-file", "", "read the passphrase from a `file`, at each start as well")
	f.BoolVar(&o.init.keyFile, "key-file", false, "keep a key file in the home")
	f.BoolVar(&o.init.keyring, "keyring", false, "keep a key in the OS keyring")
	f.StringVar(&o.init.language, "words", "", "`language` of the 24 words: en or zh")
	f.BoolVar(&o.noCheck, "no-check", false, "do not ask for some of the words")
	f.Var(a.setting("wearer", "--wearer"), "wearer", "whose memory it is: a `name`")
	f.Var(a.setting("zone", "--zone"), "zone", "the wearer's `zone`, such as Europe/Berlin")
	f.Var(a.setting("languages", "--languages"), "languages", "`codes` of what is spoken around you, such as en,de; engines listen and read in these")
	f.StringVar(&o.wearable, "wearable", "", "`name` of a wearable that gets credentials, or none")
	for _, kind := range serve.EngineKinds {
		f.StringVar(o.engines[kind], kind, "", "what "+engineVerb[kind]+": an `address`, auto or none; see locket engine add")
	}
	f.BoolVar(&o.atLogin, "at-login", false, "start the daemon when you log in, by systemd or launchd")
	f.StringVar(&o.say, "say", "", "a first `text` to remember")
	f.StringVar(&o.backup, "backup", "", "`folder` or s3://BUCKET/PREFIX that gets a backup each day, or none")
	f.StringVar(&o.backupFile, "backup-passphrase-file", "", "read the backup's passphrase from a `file`, each day as well")
	return c
}

// engineVerb says what engines of a kind do.
var engineVerb = map[string]string{"ears": "hears recordings", "eyes": "reads photos", "mind": "finds memories in what is said"}

// setUp is what setup prints with --json.
type setUp struct {
	Home      string                   `json:"home"`
	Config    string                   `json:"config,omitempty"`          // the file that was written
	Phrase    []string                 `json:"recovery_phrase,omitempty"` // of a new home
	Wearable  *serve.DeviceCredentials `json:"wearable,omitempty"`
	Engines   []serve.Engine           `json:"engines"`            // that were added
	AtLogin   string                   `json:"at_login,omitempty"` // the file that starts it
	FirstLine []serve.Hit              `json:"found,omitempty"`    // for the first text
	Backup    *backup.Written          `json:"backup,omitempty"`
	Skipped   []string                 `json:"skipped"`
}

// setting up is one run of the wizard.
type settingUp struct {
	*asker
	o      *setupOptions
	done   setUp
	failed []error  // of engines, which end no setup
	again  []string // the commands that try them again
}

// setup goes through the steps. What a step has made stays, whatever becomes of
// the next one.
func (a *app) setup(ctx context.Context, o *setupOptions) error {
	s := &settingUp{asker: &asker{app: a, ctx: ctx, talks: a.talks()}, o: o, done: setUp{Engines: []serve.Engine{}, Skipped: []string{}}}
	l, err := a.load()
	if err != nil {
		return err
	}
	if err := s.check(l); err != nil {
		return err
	}
	n, c, err := a.open(ctx)
	switch {
	case c != nil:
		c.Close()
	case n != nil:
		if err := n.Close(); err != nil {
			return err
		}
	}
	if errors.Is(err, errNoHome) {
		err = s.home(l)
	} else if err == nil {
		s.tell("The home is there already: %s\n", l.Home)
		err = s.asWritten(l)
	}
	if err != nil {
		return err
	}
	s.done.Home = a.settings.Home
	if err := a.withKeys(ctx, true, o.init.passphrase, s.steps); err != nil {
		if errors.Is(err, errEnded) {
			s.tell("\nWhat was done so far stays. To go on: %s\n", a.here("locket setup"))
		}
		if a.json { // what is shown once, whatever failed
			err = errors.Join(err, a.print(s.done, nil))
		}
		return err
	}
	return a.print(s.done, func(w io.Writer) {
		for _, step := range s.done.Skipped {
			fmt.Fprintf(w, "Later: %s\n", a.here(step))
		}
		fmt.Fprintln(w, "The node is ready: "+a.here("locket run"))
	})
}

// asWritten refuses a flag for a setting that the home has otherwise. Only a new home's settings
// are written here.
func (s *settingUp) asWritten(l *config.Loaded) error {
	a := s.app
	given := map[string]string{"wearer": "--wearer", "zone": "--zone", "languages": "--languages"} // by the setting
	for _, key := range a.setKeys() {
		given[key] = setName + " " + key
	}
	own := func(f config.Flag) bool { return given[f.Key] != "" }
	has, err := config.Load(config.Sources{Environ: a.environ, Flags: slices.DeleteFunc(slices.Clone(a.flags), own), File: a.file})
	if err != nil {
		return err
	}
	is := has.Settings()
	for i, v := range l.Settings() {
		if flag := given[v.Key]; flag != "" && v.Value != is[i].Value {
			file := cmp.Or(has.File, filepath.Join(has.Home, config.FileName))
			return advisedError{fmt.Errorf("%s: the home has %q already", flag, is[i].Value), fmt.Sprintf("Setup writes the settings of a new home alone. Change %s in %s.", v.Key, file)}
		}
	}
	return nil
}

// check refuses flags that a step would refuse after the home is made.
func (s *settingUp) check(l *config.Loaded) error {
	o := s.o
	for _, kind := range serve.EngineKinds {
		address, _, _ := strings.Cut(strings.TrimSpace(*o.engines[kind]), " ")
		if err := checkAddress(address); err != nil {
			return usageError{fmt.Errorf("--%s: %w", kind, err)}
		}
	}
	if name := o.wearable; name != "" && name != none {
		if wire.CheckDevice(name) != nil {
			return usagef("--wearable %q: %s", name, deviceNames)
		}
	}
	if o.backup == "" || o.backup == none {
		if o.backupFile != "" && (!s.talks || o.backup == none) {
			return usagef("--backup-passphrase-file needs --backup")
		}
		return nil
	}
	if o.backupFile == "" && !s.talks {
		return usagef("--backup needs --backup-passphrase-file")
	}
	if _, err := backup.At(o.backup, l.Home, s.app.environment); err != nil {
		return usageError{fmt.Errorf("--backup: %w", err)}
	}
	if err := backup.Outside(o.backup, l.Home); err != nil {
		return usageError{fmt.Errorf("--backup: %w", err)}
	}
	if o.backupFile != "" {
		if _, err := s.app.newPassphrase(o.backupFile); err != nil {
			return fmt.Errorf("--backup-passphrase-file: %w", err)
		}
		_, err := s.app.backupSchedule(o.backup, &backupOptions{file: o.backupFile, every: "1d"})
		return err
	}
	return nil
}

// steps are those that a home is needed for.
func (s *settingUp) steps(c *serve.Client) error {
	for _, step := range []func(*serve.Client) error{s.wearable, s.engines, s.atLogin, s.firstLine, s.backUp} {
		if err := step(c); err != nil {
			return errors.Join(append(s.failed, err)...)
		}
	}
	if len(s.failed) > 0 {
		return advisedError{errors.Join(s.failed...), "All else was done. To try it again: " + strings.Join(s.again, "; ")}
	}
	return nil
}

// home makes the home, which is none before its words are checked.
func (s *settingUp) home(l *config.Loaded) error {
	o := s.o
	if o.passphraseFile == "" && !o.init.keyFile && !o.init.keyring && !s.talks {
		return usagef("say how the home is opened: --passphrase-file, --keyring or --key-file")
	}
	if err := s.persona(l); err != nil {
		return err
	}
	s.saySpoken()
	var made *newHome
	for chosen := o.init.keyring; made == nil; { // by a flag
		if err := s.opening(); err != nil {
			return err
		}
		s.app.settings = nil // with the answers
		var err error
		if l, err = s.app.load(); err != nil {
			return err
		}
		made, err = s.app.prepareHome(l, o.passphraseFile, &o.init)
		if s.talks && !chosen && o.init.keyring && errors.Is(err, keyring.ErrNoKeyring) {
			s.tell("%v\n", err)
			made, o.init.keyring = nil, false
			continue
		}
		if err != nil {
			return err
		}
	}
	var err error
	words := made.words()
	if !s.app.json {
		s.app.showPhrase(l.Home, made.written, made.phrase)
		if s.talks && !o.noCheck {
			err = s.words(words)
		}
	}
	if err == nil {
		err = made.keep()
	}
	if err != nil {
		err = errors.Join(err, made.discard())
		s.tell("\nNothing was made.\n")
		return err
	}
	s.done.Config, s.done.Phrase = made.written, words
	s.app.settings = nil // with what was written
	_, err = s.app.load()
	return err
}

// persona asks for the wearer's name, zone and languages.
func (s *settingUp) persona(l *config.Loaded) error {
	for _, q := range []struct{ key, ask, now, usual string }{
		{"wearer", "Your name, by which Locket knows who \"I\" is", l.Wearer, l.Wearer},
		{"zone", "Your time zone, such as Europe/Berlin; Local is that of this machine", l.Zone, l.Zone},
		{"languages", "Languages that are spoken around you, by their codes, such as en,de or zh", strings.Join(l.Languages, ","), localeLanguage(s.app.environment)},
	} {
		if !s.talks || l.Origin(q.key).Kind == config.FromFlag {
			continue
		}
		for {
			v, err := s.ask(q.ask, cmp.Or(q.now, q.usual))
			if err != nil {
				return err
			}
			if v == q.now {
				break
			}
			before := s.app.flags
			s.app.flags = append(slices.Clone(before), config.Flag{Name: "--" + q.key, Key: q.key, Value: v})
			s.app.settings = nil
			_, wrong := s.app.load()
			if wrong == nil {
				break
			}
			s.app.flags = before
			s.tell("%v\n", answerFault(q.key, wrong))
		}
	}
	return nil
}

// answerFault is what is wrong with an answer to a question for a setting, without the flag,
// which nobody has given.
func answerFault(key string, wrong error) error {
	return errors.New(strings.TrimPrefix(wrong.Error(), fmt.Sprintf("%v: --%s: %[2]s: ", config.ErrConfig, key)))
}

// opening makes the way in which the keys will be opened, and chooses the language
// of the recovery phrase. It asks the person if the flags do not say.
func (s *settingUp) opening() (err error) {
	o := s.o
	if o.passphraseFile != "" {
		o.init.passphrase, err = s.app.newPassphrase(o.passphraseFile)
	}
	for s.talks && err == nil && o.passphraseFile == "" && !o.init.keyFile && !o.init.keyring {
		s.tell("How is the home opened?\n  1  by a passphrase\n  2  by the keyring of this system\n  3  by a key file in the home: whoever has the disk has the memories\n")
		var v string
		if v, err = s.ask("1, 2 or 3", "1"); err != nil {
			break
		}
		switch v {
		case "1":
			err = s.wait(func() (err error) { o.init.passphrase, err = s.app.newPassphrase(""); return err })
			switch {
			case err == nil:
				return s.language()
			case errors.Is(err, errTooShort) || errors.Is(err, errNotSame):
				s.tell("%v\n", err)
				err = nil
			}
		case "2":
			o.init.keyring = true
		case "3":
			o.init.keyFile = true
		default:
			s.tell("%q: want 1, 2 or 3\n", v)
		}
	}
	if err != nil {
		return err
	}
	return s.language()
}

func (s *settingUp) language() (err error) {
	for s.o.init.language == "" {
		if !s.talks {
			s.o.init.language = "en"
			break
		}
		v, err := s.ask("Language of the 24 words that recover your keys: en or zh", "en")
		if err != nil {
			return err
		}
		if v == "en" || v == "zh" {
			s.o.init.language = v
		}
	}
	return nil
}

// words asks for three of the words, until they are right or it is skipped.
func (s *settingUp) words(words []string) error {
	ask := rand.Perm(len(words))[:min(3, len(words))]
	slices.Sort(ask)
	for i := 0; i < len(ask); {
		v, err := s.ask(fmt.Sprintf("Word %d, to see that you have them; skip goes on without", ask[i]+1), "")
		switch {
		case err != nil:
			return err
		case v == "skip":
			s.done.Skipped = append(s.done.Skipped, "the words were not checked: see that you have them")
			return nil
		case strings.ToLower(v) == words[ask[i]]:
			i++
		default:
			s.tell("That is not word %d. Look at the list above.\n", ask[i]+1)
		}
	}
	return nil
}
