package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// wearable gives one credentials, and shows them as a QR too, which a phone or a
// firmware can scan.
func (s *settingUp) wearable(c *serve.Client) error {
	name := s.o.wearable
	if name == "" && s.talks {
		s.tell("\nA wearable that sends events needs credentials for the broker of this node.\n")
		for {
			var err error
			if name, err = s.ask("Its name, such as pendant; Enter skips this", ""); err != nil {
				return err
			}
			if name == "" || name == none || wire.CheckDevice(name) == nil {
				break
			}
			s.tell("%q: %s\n", name, deviceNames)
		}
	}
	if name == "" || name == none {
		known, err := c.Devices(s.ctx)
		if err == nil && len(known) == 0 {
			s.done.Skipped = append(s.done.Skipped, "locket wearable add NAME")
		}
		return err
	}
	d, err := c.AddDevice(s.ctx, name)
	if errors.Is(err, serve.ErrConflict) { // of an earlier run
		fmt.Fprintf(s.app.stderr, "%v. %s\n", err, s.app.shownOnce(name))
		return nil
	}
	if err != nil {
		return err
	}
	s.done.Wearable = &d
	if s.app.json {
		return nil
	}
	fmt.Fprintf(s.app.stdout, "\n%-10s %s\n%-10s %s\n%-10s %s\n%-10s %s\n", "broker", d.Broker, "client id", d.ClientID, "user name", d.Username, "password", string(d.Password))
	link, err := wearableLink(&d)
	if err != nil {
		return err
	}
	if !s.talks { // for a file, or another program
		fmt.Fprintf(s.app.stdout, "%-10s %s\n", "link", link)
	} else {
		picture, whole := qr(s.app.stdout, link)
		fmt.Fprint(s.app.stdout, picture)
		if !whole {
			fmt.Fprintln(s.app.stdout, "It would say:", link)
		}
	}
	s.tell("The password is not shown again.\n")
	fmt.Fprint(s.app.stderr, onlyHere(d.Broker))
	return nil
}

// deviceNames says how a wearable may be called.
const deviceNames = "want 1 to 32 of a-z, 0-9 and -, which is neither first nor last, as it is part of a topic"

// shownOnce says what to do without the password of a wearable that is there.
func (a *app) shownOnce(name string) string {
	return "Its password was shown once. For another one: " + a.here("locket wearable remove "+name) + ", and add it again."
}

// onlyHere says what to do where a broker's URL is of no use to a device that is not this machine;
// otherwise it is empty.
func onlyHere(broker string) string {
	u, err := url.Parse(broker)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && !ip.IsLoopback() && !ip.IsUnspecified() {
		return ""
	}
	return "Only programs on this machine reach that address. For a wearable that comes over the network:\n" + docsAt + "mqtt.md#over-the-network\n"
}

// wearableLink is what the QR says: mqtt://USER:PASSWORD@HOST:PORT, or mqtts.
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

// engines chooses ears, eyes and a mind. One that does not work is no reason to
// end the setup.
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
		chosen, err := c.Engines(s.ctx)
		if err == nil && !slices.ContainsFunc(chosen, func(e serve.Engine) bool { return e.Kind == kind }) {
			s.done.Skipped = append(s.done.Skipped, "locket engine add "+kind+" auto, or with an address in place of auto")
		}
		return err
	}
	address, model, _ := strings.Cut(strings.TrimSpace(*s.o.engines[kind]), " ")
	if address == none || address == "" && !s.talks {
		return later()
	}
	if address != "" && address != "auto" {
		// A person who gives a flag has chosen.
		r := serve.AddEngineRequest{Kind: kind, Address: address, Model: strings.TrimSpace(model)}
		e, err := s.app.tryEngine(s.ctx, c, r)
		if err != nil {
			again, _ := s.app.addBetter(&r, err)
			s.failed, s.again = append(s.failed, fmt.Errorf("--%s: %w", kind, err)), append(s.again, again)
			return s.ctx.Err()
		}
		s.chosen(e)
		return nil
	}
	found, err := c.FoundEngines(s.ctx, kind)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		s.tell("\nNothing that %s was found on this machine. %s\n", engineVerb[kind], engineHelp[kind])
		return later()
	}
	for _, f := range found {
		what := oneLine(f.Name)
		if f.Address != f.Engine {
			what += " at " + oneLine(f.Address)
		}
		if address == "" {
			use, err := s.yes(fmt.Sprintf("\n%s was found, which %s. Use it?", what, engineVerb[kind]))
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
			if s.talks {
				if agreed, err = s.yes(fmt.Sprintf("%s is not on this machine. It would get %s, but nothing that was said near a secret. Agree?", oneLine(f.Address), engineGets[kind])); err != nil {
					return err
				}
			}
			if !agreed {
				continue
			}
		}
		e, err := s.app.tryEngine(s.ctx, c, serve.AddEngineRequest{Kind: kind, Address: f.Address, Model: f.Model, Consent: elsewhere})
		if errors.Is(err, serve.ErrEngine) {
			s.tell("%s: %v\n", what, err)
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
	if !s.app.json {
		s.app.showEngine(s.app.stdout, &e)
	}
}

// firstLine remembers something, and shows how it is found.
func (s *settingUp) firstLine(c *serve.Client) error {
	text := s.o.say
	if text == "" && s.talks {
		var err error
		if text, err = s.ask("\nTell me something to remember, such as: I park the car on level 3; Enter skips this", ""); err != nil {
			return err
		}
	}
	if text == "" || text == none {
		return nil
	}
	if _, err := c.Add(s.ctx, serve.AddRequest{Text: text, Keep: true}); err != nil {
		return err
	}
	res, err := c.Search(s.ctx, serve.SearchRequest{Query: text, K: 1})
	if err != nil {
		return err
	}
	s.done.FirstLine = res.Hits
	if s.app.json {
		return nil
	}
	for i := range res.Hits {
		fmt.Fprintf(s.app.stdout, "It is found: %s\n", oneLine(hitText(&res.Hits[i])))
	}
	return nil
}

// backUp makes a first backup. With the passphrase in a file, the daemon goes on with
// one each day.
func (s *settingUp) backUp(c *serve.Client) error {
	o := &backupOptions{file: s.o.backupFile}
	to := s.o.backup
	if to == "" && s.talks {
		var err error
		if to, err = s.ask("\nA folder for a backup, such as one on a stick or another disk; Enter skips this", ""); err != nil {
			return err
		}
	}
	if to == "" || to == none {
		l, err := s.app.load()
		if err == nil && l.Backup.To == "" {
			s.done.Skipped = append(s.done.Skipped, "locket backup DIR, onto a stick or another disk")
		}
		return err
	}
	var schedule map[string]any
	var w backup.Written
	err := s.wait(func() (err error) {
		if o.file != "" {
			o.every = "1d"
			if schedule, err = s.app.backupSchedule(to, o); err != nil {
				return err
			}
		}
		if s.o.init.passphrase != "" {
			if _, err := c.UnlockVault(s.ctx, s.o.init.passphrase, time.Minute); err != nil {
				return err
			}
		}
		w, err = s.app.backUp(s.ctx, c, to, o)
		if err == nil && schedule != nil {
			err = s.app.setTable("backup", schedule)
		}
		return err
	})
	if err != nil {
		advice := "To do it later: locket backup DIR"
		if told, ok := errors.AsType[advisedError](err); ok {
			advice = told.advice
		}
		return advisedError{fmt.Errorf("backup: %w", err), "What was done so far stays. " + advice}
	}
	s.done.Backup = &w
	if !s.app.json {
		showBackup(s.app.stdout, &w)
	}
	if schedule == nil {
		s.done.Skipped = append(s.done.Skipped, "locket backup DIR --every 1d --passphrase-file FILE, to have the daemon do it")
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
