package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/console"
	"github.com/locket-dev/locket/node/serve"
)

// setupPage makes a home with a page in the browser, and then runs the daemon, with which the page
// continues.
func setupPage(a *cli.App, ctx context.Context, o daemonOptions, quiet bool) (err error) {
	l, err := a.Load()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "locket-setup-") // the file that a browser opens can't be in the home, which does not exist yet
	if err != nil {
		return err
	}
	page := console.New(console.Options{Listen: l.API.Console, Log: a.Logger(&l.Config)})
	defer func() { err = errors.Join(err, page.Close()) }()
	by := &pageSetup{app: a, before: a.Flags}
	err = page.SetUp(ctx, by, func(link serve.ConsoleLink) error {
		if !a.JSON {
			fmt.Fprintf(a.Stderr, "There is no home at %s yet. The page makes one. Its address works once, within two minutes.\n", l.Home)
		}
		return a.OpenLink(link, dir, quiet)
	})
	err = errors.Join(err, os.RemoveAll(dir))
	if err != nil {
		if ctx.Err() != nil {
			err = cli.ErrEnded
		}
		return cli.AdvisedError{Err: err, Advice: "Nothing was created. To start again: locket open, or locket setup in the terminal."}
	}
	o.page, o.passphrase, by.passphrase = page, by.passphrase, ""
	return runDaemon(a, ctx, o)
}

// pageSetup makes a home for the page. Its methods are called one at a time.
type pageSetup struct {
	app        *cli.App
	before     []config.Flag // from the command line
	made       *cli.NewHome
	passphrase serve.Secret // of the home that was made
}

// Offer implements console.Setup.
func (s *pageSetup) Offer() console.SetupOffer {
	o := console.SetupOffer{}
	if l, err := s.app.Load(); err == nil { // it loaded at the start, so only an answer can make it fail
		o.Home, o.Zone, o.Languages = l.Home, l.Zone, l.Languages
		if l.Origin("wearer").Kind != config.FromDefault {
			o.Wearer = l.Wearer
		}
	}
	switch runtime.GOOS {
	case "linux":
		o.Login = "systemd"
	case "darwin":
		o.Login = "launchd"
	}
	return o
}

// Make implements console.Setup.
func (s *pageSetup) Make(_ context.Context, a console.SetupAnswers) ([]string, error) {
	wrong := func(field string, err error) error { return &console.SetupError{Field: field, Err: err} }
	init := cli.InitOptions{Language: a.Words}
	switch a.Way {
	case serve.WayPassphrase:
		init.Passphrase = a.Passphrase
		if err := cli.CheckLength(a.Passphrase); err != nil {
			return nil, wrong("passphrase", err)
		}
	case serve.WayKeyFile:
		init.KeyFile = true
	case serve.WayKeyring:
		init.Keyring = true
	default:
		return nil, wrong("way", errors.New("choose how the home is opened: passphrase, key-file or keyring"))
	}
	if !slices.Contains([]string{"en", "zh"}, a.Words) {
		return nil, wrong("words", errors.New("the language of the words must be en or zh"))
	}
	flags := slices.Clone(s.before)
	for _, q := range []struct{ key, answer string }{
		{"wearer", a.Wearer}, {"zone", a.Zone}, {"languages", strings.Join(a.Languages, ",")},
	} {
		if q.answer == "" || q.answer == s.valueOf(q.key) {
			continue
		}
		flags = append(flags, config.Flag{Name: "--" + q.key, Key: q.key, Value: q.answer})
		if err := s.try(flags); err != nil {
			return nil, errors.Join(wrong(q.key, cli.AnswerFault(q.key, err)), s.try(s.before))
		}
	}
	l, err := s.app.Load()
	if err != nil {
		return nil, err
	}
	made, err := s.app.PrepareHome(l, "", &init)
	if err != nil {
		err = errors.Join(err, s.try(s.before))
		if errors.Is(err, keyring.ErrNoKeyring) {
			return nil, wrong("way", keyring.ErrNoKeyring)
		}
		if errors.Is(err, memory.ErrInUse) {
			return nil, errors.New("another setup is making this home at the moment")
		}
		return nil, err
	}
	s.made, s.passphrase = made, init.Passphrase
	return made.Words(), nil
}

func (s *pageSetup) valueOf(key string) string {
	for _, v := range s.app.Settings.Settings() {
		if v.Key == key {
			return v.Value
		}
	}
	return ""
}

// try loads the settings with other flags.
func (s *pageSetup) try(flags []config.Flag) error {
	s.app.Flags, s.app.Settings = flags, nil
	_, err := s.app.Load()
	return err
}

// Keep implements console.Setup.
func (s *pageSetup) Keep() error {
	if err := s.made.Keep(); err != nil {
		return err
	}
	s.made = nil
	return s.try(s.app.Flags) // with the settings that were written
}

// Discard implements console.Setup.
func (s *pageSetup) Discard() error {
	if s.made == nil {
		return nil
	}
	made := s.made
	s.made, s.passphrase = nil, ""
	return errors.Join(made.Discard(), s.try(s.before))
}

// AtLogin implements console.Setup.
func (s *pageSetup) AtLogin() (console.SetupLogin, error) {
	file, now, err := s.app.StartsAtLogin()
	return console.SetupLogin{File: file, Now: now}, err
}
