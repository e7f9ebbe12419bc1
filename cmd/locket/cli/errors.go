package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/diskspace"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/pairing"
)

// AdvisedError is an error with advice on what a person can do about it.
type AdvisedError struct {
	Err    error
	Advice string
}

func (e AdvisedError) Error() string { return e.Err.Error() }
func (e AdvisedError) Unwrap() error { return e.Err }

// OtherMachineError is an error whose advice is for another machine.
type OtherMachineError struct {
	Err    error
	Advice string
}

func (e OtherMachineError) Error() string { return e.Err.Error() }
func (e OtherMachineError) Unwrap() error { return e.Err }

var ErrNoHome = errors.New("there is no node here")

var ErrHomeExists = errors.New("there is a node here already")

// UsageError is an error in the command line.
type UsageError struct{ Err error }

func (u UsageError) Error() string { return u.Err.Error() }
func (u UsageError) Unwrap() error { return u.Err }

func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// ErrReported is a failure that was already reported.
var ErrReported = errors.New("told")

var errInterrupted = errors.New("interrupted")

// InterruptedError says what an interrupted command has done, and how to continue it.
type InterruptedError struct {
	Err   error
	State string // sentences
}

func (g InterruptedError) Error() string { return g.Err.Error() }
func (g InterruptedError) Unwrap() error { return g.Err }

// ShownError returns the error that a person sees for err. If the command was interrupted, that is what
// it has done so far, and not what it was doing at that moment.
func ShownError(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	if g, ok := errors.AsType[InterruptedError](err); ok {
		return AdvisedError{errInterrupted, g.State}
	}
	return errInterrupted
}

// TellError prints what went wrong and what a person can do about it.
func (a *App) TellError(err error) {
	advice := a.advice(err)
	if a.JSON {
		v := struct {
			Error  string `json:"error"`
			Type   string `json:"type,omitempty"`
			Field  string `json:"field,omitempty"`
			Advice string `json:"advice,omitempty"`
		}{Error: err.Error(), Advice: advice}
		if p, ok := errors.AsType[*serve.Problem](err); ok {
			v.Type, v.Field = p.Type, p.Field
		}
		_ = json.NewEncoder(a.Stderr).Encode(v) // standard error itself failed, so nobody can be told
		return
	}
	fmt.Fprintf(a.Stderr, "locket: %v\n", err)
	if advice != "" {
		fmt.Fprintln(a.Stderr, advice)
	}
}

// lists maps the kind of thing that an error names to the command that lists such things.
var lists = map[string]string{"app": "app list", "community": "community list", "comparison": "match list", "conflict": "conflicts", "consent": "consent list", "device": "wearable list",
	"dream": "dream", "given": "share given", "grant": "grant list", "member": "devices", "order": "market orders", "plugin": "plugin list", "sale": "market sales", "share": "share list", "worker": "grant list", "zone": "zones list"}

// notThere returns the command that lists the kind of thing that was not found, which is the first
// word of the error. It is empty if there is none.
func notThere(err error) string {
	if m := wrongName.FindStringSubmatch(err.Error()); m != nil {
		return lists[m[1]]
	}
	return ""
}

// wrongName finds the error for a name or an id that is malformed, or that nothing of its kind has.
var wrongName = regexp.MustCompile(`^(?:invalid: )?(\w+):? .*: (?:not found$|want at least |want 16 hex)`)

// ambiguous finds the error for a name, or the beginning of an id, that several things of a kind
// have.
var ambiguous = regexp.MustCompile(`^(\w+) .*: ambiguous$`)

// wrongID finds the error for an id that is malformed, or that no memory has.
var wrongID = regexp.MustCompile(`\b(?:invalid: id:?|memory) "[^"]*": (?:want|not found)`)

func (a *App) advice(err error) string {
	if advised, ok := errors.AsType[AdvisedError](err); ok {
		if strings.Contains(advised.Advice, "locket --home ") {
			return advised.Advice // it already names the home
		}
		return a.WithHome(advised.Advice)
	}
	if advised, ok := errors.AsType[OtherMachineError](err); ok {
		return advised.Advice
	}
	switch {
	case errors.Is(err, ErrNoHome):
		return "Make one: " + a.WithHome("locket setup")
	case errors.Is(err, serve.ErrVaultLocked):
		return "Open it for a while: " + a.WithHome("locket unlock --vault")
	case errors.Is(err, memory.ErrLocked):
		return "Unlock it: " + a.WithHome("locket unlock") + ", or set unlock.passphrase_file, unlock.key_file or unlock.keyring."
	case errors.Is(err, serve.ErrUnsupported) && strings.Contains(err.Error(), "this node has no relay"):
		return "Name a relay: " + a.WithHome("locket relay add URL") + ". How to run one: " + DocsAt + "relay.md"
	case errors.Is(err, serve.ErrUnsupported) && strings.Contains(err.Error(), "sync.relay nor sync.lan is set"):
		return a.HowToSync()
	case errors.Is(err, serve.ErrSecret):
		return "Say it to Locket, without --plain, and the secret goes to the vault: " + a.WithHome("locket add TEXT")
	case wrongID.MatchString(err.Error()):
		return a.WithHome("Ids stand first in the lines of locket list and locket search. Four of their characters are enough, where no other begins so.")
	case strings.Contains(err.Error(), `(404, "no such route")`):
		return "That relay does not serve this: it has no market, or is of another version. Name one that has a market with --at URL."
	case strings.HasSuffix(err.Error(), "was erased: not found"):
		return "What was erased can't be brought back. To tell it again: " + a.WithHome("locket add TEXT")
	case notThere(err) != "":
		return "See what there is: " + a.WithHome("locket "+notThere(err))
	case errors.Is(err, memory.ErrAmbiguous):
		if m := ambiguous.FindStringSubmatch(err.Error()); m != nil && lists[m[1]] != "" {
			return "Give more of its characters, or its id, which stands first in the lines of " + a.WithHome("locket "+lists[m[1]]) + "."
		}
		return "Give more of its characters."
	case strings.Contains(err.Error(), "needs an invitation of its own in sync.invite"):
		return "Ask the operator of the relay for another code. Write it to " + config.FileName + " as sync.invite, and restart the daemon if one is running."
	case errors.Is(err, memory.ErrNoSpace):
		return "Free some space, or set disk.reserve lower."
	case errors.Is(err, memory.ErrInUse):
		return "Another process has the home open and does not answer commands here. Wait for it, or end it. If it is a daemon that was\nstarted with --set api.listen, give this command the same flag."
	case errors.Is(err, pairing.ErrUsed):
		return "Show a new code on the other device: locket pair. If somebody else used the code, answer no there."
	case errors.Is(err, keyring.ErrNoKeyring):
		return "Use a passphrase or a key file instead: --passphrase-file, --key-file."
	case errors.Is(err, syscall.EADDRINUSE):
		return "Another program listens there, such as Mosquitto or the daemon of another home. End it, or choose another address;\nfor wearables: --set broker.listen=127.0.0.1:1884. To use Mosquitto: " + a.WithHome("locket run --broker tcp://127.0.0.1:1883")
	case diskspace.IsFull(err) || strings.Contains(err.Error(), syscall.ENOSPC.Error()):
		return "The disk is full. Free some space there, and run the command again."
	case a.unwritable(err) != "":
		home := ShellWord(a.unwritable(err))
		return "Locket has to write to its home, even to answer a question. See who owns it: ls -ld " + home +
			"\nRun locket as that user. If the disk is mounted read-only, copy the home to another place, and add --home to the command."
	case IsDamage(err):
		what := "What is named here"
		if d, ok := errors.AsType[*store.Damage](err); ok {
			what = "The store's " + d.Kind + " " + d.Key
		}
		return what + " is damaged; the rest is intact. Stop the daemon if one is running, and repair the damage: " + a.WithHome("locket doctor --repair")
	}
	return ""
}

// unwritable returns the home if err says that this user may not write there, or that it is on a
// disk that nobody may write.
func (a *App) unwritable(err error) string {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return ""
	}
	home := ""
	if a.Settings != nil {
		home = a.Settings.Home
	} else if p, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, config.ErrConfig) {
		home = filepath.Dir(p.Path)
	}
	if home == "" || !strings.Contains(err.Error(), home) {
		return ""
	}
	return home
}

// DocsAt is the address of the folder docs. Errors name it because packages have no docs.
const DocsAt = serve.Docs

// HowToSync says how to make a node sync that does not yet.
func (a *App) HowToSync() string {
	return a.WithHome("Name a relay: locket relay add URL. Or, for devices in one network, write sync.lan = true to config.toml\non each and restart their daemons. For your wearables: locket wearable list")
}
