package relayfault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// words name what can be wrong with a relay. An error of a round contains one of them, or comes
// from the network.
var words = []error{
	replica.ErrAhead, replica.ErrConflict, replica.ErrFork, replica.ErrForbidden, replica.ErrBlob, replica.ErrNotFound,
	replica.ErrRolledBack, replica.ErrForeign, replica.ErrRepeated, replica.ErrRemoved, replica.ErrUnlisted,
	remote.ErrAnswer, remote.ErrFailed, remote.ErrQuota, remote.ErrBusy, remote.ErrForbidden, remote.ErrInvite, remote.ErrNotFound, remote.ErrRefused,
	envelope.ErrForm, envelope.ErrSignature, envelope.ErrBody, envelope.ErrGap, envelope.ErrRule, envelope.ErrUnknownHead,
	io.ErrUnexpectedEOF, io.EOF, context.DeadlineExceeded,
}

// named returns an error for one that does not name the problem.
func (w *world) named(d *device, err error) error {
	if err == nil {
		return nil
	}
	w.report.Named++
	var network net.Error
	var fork *envelope.ForkError
	var refused *remote.Error
	if errors.As(err, &network) || errors.As(err, &fork) || errors.As(err, &refused) {
		return nil
	}
	for _, known := range words {
		if errors.Is(err, known) {
			return nil
		}
	}
	return fmt.Errorf("%s: an error without a name: %w", d.name, err)
}

// maxRounds is how many rounds of all devices it may take until nothing changes: a device that was
// misled repeatedly only looks at everything in each sixteenth round, and the others receive what
// it then sends in the next.
const maxRounds = 20

// settle makes the relay honest, and lets the devices meet.
func (w *world) settle() error {
	w.relay.honest()
	w.tell("the relay is honest")
	var errs []error
	last := ""
	for range maxRounds {
		errs = nil
		if err := w.whoIsOut(); err != nil {
			return err
		}
		for _, d := range w.living() {
			d.skew = 0
			err := d.sync()
			w.tell("%s: sync: %v", d.name, err)
			if s, e := d.rep.Status(w.ctx); e != nil {
				return e
			} else if s.Withheld > 0 && err == nil { // it looks for bodies rarely, and when it starts
				err = errors.Join(d.die(false), d.sync())
				w.tell("%s: lacked %d bodies, and began anew: %v", d.name, s.Withheld, err)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s does not get on with a relay that is honest: %w", d.name, err))
			}
		}
		places, err := w.places()
		if err != nil {
			return err
		}
		if len(errs) == 0 && places == last {
			return nil
		}
		last = places
	}
	if len(errs) == 0 {
		errs = append(errs, fmt.Errorf("after %d rounds something still moves: %s", maxRounds, last))
	}
	return errors.Join(errs...)
}

// whoIsOut finds devices whose removal succeeded without an answer.
func (w *world) whoIsOut() error {
	for _, by := range w.living() {
		log, err := by.log()
		if err != nil {
			return err
		}
		for _, d := range w.living() {
			if _, _, out := log.Past(d.id); out {
				w.tell("%s is out, says %s", d.name, by.name)
				d.removed = true
				if err := w.countOf(by, d); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// log returns the state that follows from a device's entries.
func (d *device) log() (*envelope.State, error) {
	log := new(envelope.State)
	entries, err := d.journal.Entries(d.w.ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range entries {
		e, err := envelope.ParseEntry(b)
		if err == nil {
			err = log.Append(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return log, nil
}

// places describes how far each device has synced.
func (w *world) places() (string, error) {
	var b strings.Builder
	for _, d := range w.living() {
		s, err := d.rep.Status(w.ctx)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s at %d, log %d, %d to send, lacks %d; ", d.name, s.Cursor, s.Log, s.Pending, s.Withheld)
	}
	return b.String(), nil
}
