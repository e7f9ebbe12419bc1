package setupcmd

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// wearable makes credentials for a wearable. It also shows them as a QR code, which a phone or a
// firmware can scan.
func (s *settingUp) wearable(c *serve.Client) error {
	name := s.o.wearable
	if name == "" && s.IsInteractive {
		s.Tell("\nA wearable needs credentials to send events to the broker of this node.\n")
		for {
			var err error
			if name, err = s.Ask("Name of the wearable, such as pendant (Enter to skip)", ""); err != nil {
				return err
			}
			if name == "" || name == none || wire.CheckDevice(name) == nil {
				break
			}
			s.Tell("%q: %s\n", name, deviceNames)
		}
	}
	if name == "" || name == none {
		known, err := c.Devices(s.Ctx)
		if err == nil && len(known) == 0 {
			s.done.Skipped = append(s.done.Skipped, "locket wearable add NAME")
		}
		return err
	}
	d, err := c.AddDevice(s.Ctx, name)
	if errors.Is(err, serve.ErrConflict) { // an earlier run added it
		fmt.Fprintf(s.App.Stderr, "%v. %s\n", err, s.App.LostPasswordHint(name))
		return nil
	}
	if err != nil {
		return err
	}
	s.done.Wearable = &d
	if s.App.JSON {
		return nil
	}
	fmt.Fprintf(s.App.Stdout, "\n%-10s %s\n%-10s %s\n%-10s %s\n%-10s %s\n", "broker", d.Broker, "client id", d.ClientID, "user name", d.Username, "password", string(d.Password))
	link, err := wearableLink(&d)
	if err != nil {
		return err
	}
	if !s.IsInteractive { // the output goes to a file or to another program
		fmt.Fprintf(s.App.Stdout, "%-10s %s\n", "link", link)
	} else {
		picture, whole := s.App.QR(s.App.Stdout, link)
		fmt.Fprint(s.App.Stdout, picture)
		if !whole {
			fmt.Fprintln(s.App.Stdout, "The code would contain:", link)
		}
	}
	s.Tell("The password is not shown again.\n")
	fmt.Fprint(s.App.Stderr, cli.OnlyLocalNote(d.Broker))
	return nil
}

// deviceNames says which names a wearable may have.
const deviceNames = "want 1 to 32 characters of a-z, 0-9 and -, but no - at the beginning or end, because it is part of a topic"

// wearableLink returns the content of the QR code: mqtt://USER:PASSWORD@HOST:PORT, or mqtts.
func wearableLink(d *serve.DeviceCredentials) (string, error) {
	u, err := url.Parse(d.Broker)
	if err != nil {
		return "", fmt.Errorf("the broker's URL: %w", err)
	}
	scheme := map[string]string{"tcp": "mqtt", "ssl": "mqtts", "tls": "mqtts"}
	if to, ok := scheme[u.Scheme]; ok {
		u.Scheme = to
	}
	u.User = url.UserPassword(d.Username, string(d.Password))
	return u.String(), nil
}

// engines chooses ears, eyes and a mind. An engine that does not work does not end the setup.
func (s *settingUp) engines(c *serve.Client) error {
	for _, kind := range serve.EngineKinds {
		if err := s.engine(c, kind); err != nil {
			return err
		}
	}
	return nil
}

func (s *settingUp) engine(c *serve.Client, kind string) error {
	later := func() error {
		chosen, err := c.Engines(s.Ctx)
		if err == nil && !slices.ContainsFunc(chosen, func(e serve.Engine) bool { return e.Kind == kind }) {
			s.done.Skipped = append(s.done.Skipped, "locket engine add "+kind+" auto, or with an address instead of auto")
		}
		return err
	}
	address, model, _ := strings.Cut(strings.TrimSpace(*s.o.engines[kind]), " ")
	if address == none || address == "" && !s.IsInteractive {
		return later()
	}
	if address != "" && address != "auto" {
		// A person who gives a flag has chosen.
		r := serve.AddEngineRequest{Kind: kind, Address: address, Model: strings.TrimSpace(model)}
		e, err := s.App.TryEngine(s.Ctx, c, r)
		if err != nil {
			again, _ := s.App.EngineAgain(&r, err)
			s.failed, s.again = append(s.failed, fmt.Errorf("--%s: %w", kind, err)), append(s.again, again)
			return s.Ctx.Err()
		}
		s.chosen(e)
		return nil
	}
	found, err := c.FoundEngines(s.Ctx, kind)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		s.Tell("\nNo engine that %s was found on this machine. %s\nSetup goes on without one; it names the command for later.\n", cli.EngineVerb[kind], cli.EngineHelp[kind])
		return later()
	}
	for _, f := range found {
		what := cli.OneLine(f.Name)
		if f.Address != f.Engine {
			what += " at " + cli.OneLine(f.Address)
		}
		if address == "" {
			use, err := s.Yes(fmt.Sprintf("\nFound %s, which %s. Use it?", what, cli.EngineVerb[kind]))
			if err != nil {
				return err
			}
			if !use {
				continue
			}
		}
		elsewhere := strings.Contains(f.Address, "://") && !(&engines.Spec{URL: f.Address}).Local()
		if elsewhere {
			agreed := false
			if s.IsInteractive {
				if agreed, err = s.Yes(fmt.Sprintf("%s is not on this machine. It would get %s, except what was said near a secret. Do you agree?", cli.OneLine(f.Address), cli.EngineGets[kind])); err != nil {
					return err
				}
			}
			if !agreed {
				continue
			}
		}
		r := serve.AddEngineRequest{Kind: kind, Address: f.Address, Model: f.Model, Consent: elsewhere}
		e, err := s.App.TryEngine(s.Ctx, c, r)
		if errors.Is(err, serve.ErrMisheard) && s.IsInteractive {
			if r.Anyway, err = s.Yes(cli.OneLine(err.Error()) + ". Use it anyway?"); err != nil {
				return err
			}
			if !r.Anyway {
				continue
			}
			e, err = s.App.TryEngine(s.Ctx, c, r)
		}
		if errors.Is(err, serve.ErrEngine) {
			s.Tell("%s: %v\n", what, err)
			continue
		}
		if err != nil {
			return err
		}
		s.chosen(e)
		return nil
	}
	return later()
}

func (s *settingUp) chosen(e serve.Engine) {
	s.done.Engines = append(s.done.Engines, e)
	if !s.App.JSON {
		s.App.ShowEngine(s.App.Stdout, &e)
	}
}

// firstLine remembers something, and shows that it can be found.
func (s *settingUp) firstLine(c *serve.Client) error {
	text := s.o.say
	if text == "" && s.IsInteractive {
		var err error
		if text, err = s.Ask("\nTell me something to remember, such as: I park the car on level 3 (Enter to skip)", ""); err != nil {
			return err
		}
	}
	if text == "" || text == none {
		return nil
	}
	if _, err := c.Add(s.Ctx, serve.AddRequest{Text: text, Keep: true}); err != nil {
		return err
	}
	res, err := c.Search(s.Ctx, serve.SearchRequest{Query: text, K: 1})
	if err != nil {
		return err
	}
	s.done.FirstLine = res.Hits
	if s.App.JSON {
		return nil
	}
	for i := range res.Hits {
		fmt.Fprintf(s.App.Stdout, "Found again: %s\n", cli.OneLine(hitText(&res.Hits[i])))
	}
	return nil
}

// backUp makes a first backup. If the passphrase is in a file, the daemon then makes one each day.
func (s *settingUp) backUp(c *serve.Client) error {
	o := &cli.BackupOptions{File: s.o.backupFile}
	to := s.o.backup
	if to == "" && s.IsInteractive {
		var err error
		if to, err = s.Ask("\nA folder for a backup, such as one on a stick or another disk (Enter to skip)", ""); err != nil {
			return err
		}
	}
	if to == "" || to == none {
		l, err := s.App.Load()
		if err == nil && l.Backup.To == "" {
			s.done.Skipped = append(s.done.Skipped, "locket backup DIR, to a stick or another disk")
		}
		return err
	}
	var schedule map[string]any
	var w backup.Written
	err := s.untilGood(func() (err error) {
		if o.File != "" {
			o.Every = "1d"
			if schedule, err = s.App.BackupSchedule(to, o); err != nil {
				return err
			}
		}
		if s.o.init.Passphrase != "" { // long enough to think of the backup's passphrase
			if _, err := c.UnlockVault(s.Ctx, s.o.init.Passphrase, 10*time.Minute); err != nil {
				return err
			}
		}
		w, err = cli.BackUp(s.App, s.Ctx, c, to, o)
		if err == nil && schedule != nil {
			err = s.App.SetTable("backup", schedule)
		}
		return err
	})
	if err != nil {
		advice := "To do it later: locket backup DIR"
		if advised, ok := errors.AsType[cli.AdvisedError](err); ok {
			advice = advised.Advice
		}
		return cli.AdvisedError{Err: fmt.Errorf("backup: %w", err), Advice: "What is done so far stays. " + advice}
	}
	s.done.Backup = &w
	if !s.App.JSON {
		cli.ShowBackup(s.App.Stdout, &w)
	}
	if schedule == nil {
		s.done.Skipped = append(s.done.Skipped, "locket backup DIR --every 1d --passphrase-file FILE, for daily backups by the daemon")
	}
	return nil
}

func hitText(h *serve.Hit) string {
	switch {
	case h.Memory != nil:
		return h.Memory.Text
	case h.Utterance != nil:
		return h.Utterance.Text
	}
	return ""
}

// untilGood asks for a new passphrase again if it is too short or mistyped. No other question comes in
// between, because the answer to it is shown, and the person types the passphrase again.
func (s *settingUp) untilGood(ask func() error) error {
	for {
		err := s.Wait(ask)
		if !s.IsInteractive || !errors.Is(err, cli.ErrTooShort) && !errors.Is(err, cli.ErrNotSame) {
			return err
		}
		s.Tell("%v\n", err)
	}
}

// unnamed says how to name the wearer later, if nobody did.
func (s *settingUp) unnamed() []string {
	if s.App.Settings.Origin("wearer").Kind != config.FromDefault {
		return nil
	}
	return []string{"your name, so that Locket knows who \"I\" is: wearer = \"NAME\" at the top of " + filepath.Join(s.done.Home, config.FileName)}
}
