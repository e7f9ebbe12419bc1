// Package setupcmd contains locket setup, in a terminal and with flags. The page in the browser is
// in package runcmd.
package setupcmd

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

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// options are the answers that flags give.
type options struct {
	init           cli.InitOptions
	passphraseFile string
	noCheck        bool
	wearable       string
	engines        map[string]*string // by kind: an address, "auto" or "none"; for a mind also its model
	atLogin        bool
	say            string
	backup         string
	backupFile     string // contains the backup's passphrase
}

// newOptions returns the options of a setup without flags.
func newOptions() *options {
	o := &options{engines: map[string]*string{}}
	for _, kind := range serve.EngineKinds {
		o.engines[kind] = new(string)
	}
	return o
}

// none is the value of a flag that skips a step.
const none = "none"

func Command(a *cli.App) *cobra.Command {
	o := newOptions()
	c := &cobra.Command{
		Use: "setup", Short: "Set everything up, step by step", Args: cli.NoArgs(),
		Long: `Makes the home with its keys and 24 words. Then it asks for your name, the languages that are
spoken around you, a wearable, the engines for speech, photos and language, whether Locket
starts when you log in, a first thing to remember, and where backups go.

You can skip each step and do it later: run locket setup again, or the command that the step
names. If you stop before the words are checked, nothing is made. locket open does the same
in the browser.

Without a terminal, setup asks nothing. Flags give the answers, and a step without a flag is
skipped. The home then needs --passphrase-file, --keyring or --key-file. Settings that --set
gives are written to the configuration of a new home.`,
		Example: `  locket setup
  locket setup --key-file --wearer Maja --languages de,en --wearable pendant --ears auto --eyes tesseract
  locket setup --mind "http://127.0.0.1:11434/v1 qwen3:8b"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return setUpWith(a, cmd.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.passphraseFile, "passphrase-file", "", "read the passphrase from a `file`, now and at each start")
	f.BoolVar(&o.init.KeyFile, "key-file", false, "keep a key file in the home")
	f.BoolVar(&o.init.Keyring, "keyring", false, "keep a key in the OS keyring")
	f.StringVar(&o.init.Language, "words", "", "`language` of the 24 words: en or zh")
	cli.Choose(f, "words", "en", "zh")
	f.BoolVar(&o.noCheck, "no-check", false, "do not check that you have written down the words")
	f.Var(a.Setting("wearer", "--wearer"), "wearer", "`name` of the person whose memory it is")
	f.Var(a.Setting("zone", "--zone"), "zone", "the wearer's `zone`, such as Europe/Berlin")
	f.Var(a.Setting("languages", "--languages"), "languages", "`codes` of the languages spoken around you, such as en,de; engines listen and read in these")
	f.StringVar(&o.wearable, "wearable", "", "`name` of a wearable that gets credentials, or none")
	for _, kind := range serve.EngineKinds {
		f.StringVar(o.engines[kind], kind, "", "engine that "+cli.EngineVerb[kind]+": an `address`, auto or none; see locket engine add")
	}
	f.BoolVar(&o.atLogin, "at-login", false, "start the daemon when you log in, with systemd or launchd")
	f.StringVar(&o.say, "say", "", "a first `text` to remember")
	f.StringVar(&o.backup, "backup", "", "`folder` or s3://BUCKET/PREFIX for a backup each day, or none")
	f.StringVar(&o.backupFile, "backup-passphrase-file", "", "read the backup's passphrase from a `file`, now and each day")
	return c
}

// setUp is what setup prints with --json.
type setUp struct {
	Home      string                   `json:"home"`
	Config    string                   `json:"config,omitempty"`          // the file that was written
	Phrase    []string                 `json:"recovery_phrase,omitempty"` // of a new home
	Wearable  *serve.DeviceCredentials `json:"wearable,omitempty"`
	Engines   []serve.Engine           `json:"engines"`            // that were added
	AtLogin   string                   `json:"at_login,omitempty"` // the file that makes the system start it
	FirstLine []serve.Hit              `json:"found,omitempty"`    // the hits for the first text
	Backup    *backup.Written          `json:"backup,omitempty"`
	Skipped   []string                 `json:"skipped"`
}

// setting up is one run of the wizard.
type settingUp struct {
	*cli.Asker
	o      *options
	done   setUp
	failed []error  // of engines; these do not end the setup
	again  []string // the commands to try them again
}

// SetUp goes through the steps like the command without flags.
func SetUp(a *cli.App, ctx context.Context) error { return setUpWith(a, ctx, newOptions()) }

// setUpWith goes through the steps. What a step has made stays, even if the next step fails.
func setUpWith(a *cli.App, ctx context.Context, o *options) error {
	s := &settingUp{Asker: &cli.Asker{App: a, Ctx: ctx, IsInteractive: a.IsInteractive()}, o: o, done: setUp{Engines: []serve.Engine{}, Skipped: []string{}}}
	l, err := a.Load()
	if err != nil {
		return err
	}
	if err := s.check(l); err != nil {
		return err
	}
	n, c, err := a.Open(ctx)
	switch {
	case c != nil:
		c.Close()
	case n != nil:
		if err := n.Close(); err != nil {
			return err
		}
	}
	if errors.Is(err, cli.ErrNoHome) {
		err = s.home(l)
	} else if err == nil {
		s.Tell("The home exists already: %s\n", l.Home)
		err = s.asWritten(l)
	}
	if err != nil {
		return err
	}
	s.done.Home = a.Settings.Home
	if err := a.WithKeys(ctx, true, o.init.Passphrase, s.steps); err != nil {
		if errors.Is(err, cli.ErrEnded) {
			s.Tell("\nWhat is done so far stays. To continue: %s\n", a.WithHome("locket setup"))
		}
		if a.JSON { // some of this is shown only once, so print it whatever failed
			err = errors.Join(err, a.Print(s.done, nil))
		}
		return err
	}
	s.done.Skipped = append(s.unnamed(), s.done.Skipped...)
	return a.Print(s.done, func(w io.Writer) {
		for _, step := range s.done.Skipped {
			fmt.Fprintf(w, "Later: %s\n", a.WithHome(step))
		}
		fmt.Fprintln(w, "The node is ready: "+a.WithHome("locket run"))
	})
}

// asWritten refuses a flag for a setting that has another value in the home. Setup writes only the
// settings of a new home.
func (s *settingUp) asWritten(l *config.Loaded) error {
	a := s.App
	given := map[string]string{"wearer": "--wearer", "zone": "--zone", "languages": "--languages"} // by the setting
	for _, key := range a.SetKeys() {
		given[key] = cli.SetName + " " + key
	}
	own := func(f config.Flag) bool { return given[f.Key] != "" }
	has, err := config.Load(config.Sources{Environ: a.Environ, Flags: slices.DeleteFunc(slices.Clone(a.Flags), own), File: a.File})
	if err != nil {
		return err
	}
	is := has.Settings()
	for i, v := range l.Settings() {
		if flag := given[v.Key]; flag != "" && v.Value != is[i].Value {
			file := cmp.Or(has.File, filepath.Join(has.Home, config.FileName))
			advice := fmt.Sprintf("Setup writes only the settings of a new home. Change %s in %s.", v.Key, file)
			if v.Key == "sync.relay" || v.Key == "sync.invite" {
				advice = "Setup writes only the settings of a new home. To give this home its relay, while no daemon is running: " + a.WithHome("locket relay add URL --set sync.invite=CODE")
			}
			return cli.AdvisedError{Err: fmt.Errorf("%s: the home already has %q", flag, is[i].Value), Advice: advice}
		}
	}
	return nil
}

// check refuses flags that a step would refuse after the home is made.
func (s *settingUp) check(l *config.Loaded) error {
	o := s.o
	for _, kind := range serve.EngineKinds {
		address, _, _ := strings.Cut(strings.TrimSpace(*o.engines[kind]), " ")
		if err := cli.CheckEngineAddress(address); err != nil {
			return cli.UsageError{Err: fmt.Errorf("--%s: %w", kind, err)}
		}
	}
	if name := o.wearable; name != "" && name != none {
		if wire.CheckDevice(name) != nil {
			return cli.Usagef("--wearable %q: %s", name, deviceNames)
		}
	}
	if o.backup == "" || o.backup == none {
		if o.backupFile != "" && (!s.IsInteractive || o.backup == none) {
			return cli.Usagef("--backup-passphrase-file needs --backup")
		}
		return nil
	}
	if o.backupFile == "" && !s.IsInteractive {
		return cli.Usagef("--backup needs --backup-passphrase-file")
	}
	if _, err := backup.ParsePlace(o.backup, l.Home, s.App.Environment); err != nil {
		return cli.UsageError{Err: fmt.Errorf("--backup: %w", err)}
	}
	if err := backup.Outside(o.backup, l.Home); err != nil {
		return cli.UsageError{Err: fmt.Errorf("--backup: %w", err)}
	}
	if o.backupFile != "" {
		if _, err := s.App.NewPassphrase(o.backupFile); err != nil {
			return fmt.Errorf("--backup-passphrase-file: %w", err)
		}
		_, err := s.App.BackupSchedule(o.backup, &cli.BackupOptions{File: o.backupFile, Every: "1d"})
		return err
	}
	return nil
}

// steps runs the steps that need a home.
func (s *settingUp) steps(c *serve.Client) error {
	for _, step := range []func(*serve.Client) error{s.wearable, s.engines, s.atLogin, s.firstLine, s.backUp} {
		if err := step(c); err != nil {
			return errors.Join(append(s.failed, err)...)
		}
	}
	if len(s.failed) > 0 {
		return cli.AdvisedError{Err: errors.Join(s.failed...), Advice: "Everything else is done. To try again: " + strings.Join(s.again, "; ")}
	}
	return nil
}

// home makes the home. Until its words are checked, it is not in its place.
func (s *settingUp) home(l *config.Loaded) error {
	o := s.o
	if o.passphraseFile == "" && !o.init.KeyFile && !o.init.Keyring && !s.IsInteractive {
		return cli.Usagef("choose how the home is opened: --passphrase-file, --keyring or --key-file")
	}
	if err := s.persona(l); err != nil {
		return err
	}
	s.saySpoken()
	var made *cli.NewHome
	for chosen := o.init.Keyring; made == nil; { // true if a flag chose the keyring
		if err := s.opening(); err != nil {
			return err
		}
		s.App.Settings = nil // read them again, with the answers
		var err error
		if l, err = s.App.Load(); err != nil {
			return err
		}
		made, err = s.App.PrepareHome(l, o.passphraseFile, &o.init)
		if s.IsInteractive && !chosen && o.init.Keyring && errors.Is(err, keyring.ErrNoKeyring) {
			s.Tell("%v\n", err)
			made, o.init.Keyring = nil, false
			continue
		}
		if err != nil {
			return err
		}
	}
	var err error
	words := made.Words()
	if !s.App.JSON {
		check := s.IsInteractive && !o.noCheck
		s.App.ShowPhrase(s.App.PhraseOut(check), l.Home, made.Written, made.Phrase)
		if check {
			err = s.words(words)
		}
	}
	if err == nil {
		err = made.Keep()
	}
	if err != nil {
		err = errors.Join(err, made.Discard())
		s.Tell("\nNothing was created.\n")
		return err
	}
	s.done.Config, s.done.Phrase = made.Written, words
	s.App.Settings = nil // read them again, as they were written
	_, err = s.App.Load()
	return err
}

// persona asks for the wearer's name, zone and languages.
func (s *settingUp) persona(l *config.Loaded) error {
	for _, q := range []struct{ key, ask, now, usual string }{
		{"wearer", "Your name, so that Locket knows who \"I\" is", l.Wearer, l.Wearer},
		{"zone", "Your time zone, such as Europe/Berlin; Local is the zone of this machine", l.Zone, l.Zone},
		{"languages", "Languages spoken around you, as codes such as en,de or zh", strings.Join(l.Languages, ","), localeLanguage(s.App.Environment)},
	} {
		if !s.IsInteractive || l.Origin(q.key).Kind == config.FromFlag {
			continue
		}
		for {
			v, err := s.Ask(q.ask, cmp.Or(q.now, q.usual))
			if err != nil {
				return err
			}
			if v == q.now {
				break
			}
			before := s.App.Flags
			s.App.Flags = append(slices.Clone(before), config.Flag{Name: "--" + q.key, Key: q.key, Value: v})
			s.App.Settings = nil
			_, wrong := s.App.Load()
			if wrong == nil {
				break
			}
			s.App.Flags = before
			s.Tell("%v\n", cli.AnswerFault(q.key, wrong))
		}
	}
	return nil
}

// opening sets how the keys will be opened, and the language of the recovery phrase. It asks the
// person what the flags do not say.
func (s *settingUp) opening() (err error) {
	o := s.o
	if o.passphraseFile != "" {
		o.init.Passphrase, err = s.App.NewPassphrase(o.passphraseFile)
	}
	for s.IsInteractive && err == nil && o.passphraseFile == "" && !o.init.KeyFile && !o.init.Keyring {
		s.Tell("How should the home be opened?\n  1  with a passphrase\n  2  with the keyring of this system\n  3  with a key file in the home: anyone who has the disk can read the memories\n")
		var v string
		if v, err = s.Ask("1, 2 or 3", "1"); err != nil {
			break
		}
		switch v {
		case "1":
			err = s.untilGood(func() (err error) { o.init.Passphrase, err = s.App.NewPassphrase(""); return err })
			if err == nil {
				return s.language()
			}
		case "2":
			o.init.Keyring = true
		case "3":
			o.init.KeyFile = true
		default:
			s.Tell("%q: want 1, 2 or 3\n", v)
		}
	}
	if err != nil {
		return err
	}
	return s.language()
}

func (s *settingUp) language() (err error) {
	for s.o.init.Language == "" {
		if !s.IsInteractive {
			s.o.init.Language = "en"
			break
		}
		v, err := s.Ask("Language of the 24 words that recover your keys: en or zh", "en")
		if err != nil {
			return err
		}
		if v == "en" || v == "zh" {
			s.o.init.Language = v
		} else {
			s.Tell("%q: want en or zh\n", v)
		}
	}
	return nil
}

// words asks for three of the words until they are right or the person skips the check.
func (s *settingUp) words(words []string) error {
	ask := rand.Perm(len(words))[:min(3, len(words))]
	slices.Sort(ask)
	for i := 0; i < len(ask); {
		v, err := s.Ask(fmt.Sprintf("Word %d, to check that you wrote them down (or: skip)", ask[i]+1), "")
		switch {
		case err != nil:
			return err
		case v == "skip":
			s.done.Skipped = append(s.done.Skipped, "check that you have the 24 words")
			return nil
		case strings.ToLower(v) == words[ask[i]]:
			i++
		default:
			s.Tell("That is not word %d. Look at the list above.\n", ask[i]+1)
		}
	}
	return nil
}
