package serve

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
)

// VaultAsker gives apps single entries of the vault. The wearer is asked about each
// reading, see [Consents]. Each call is for the app in its context, see [Asking]; without
// an app the error is ErrUnsupported.
type VaultAsker interface {
	// AskVault asks the wearer, or returns once what the wearer has agreed to.
	// ErrForbidden: the wearer refused. ErrLimit: too many questions of the app are
	// waiting.
	AskVault(ctx context.Context, r VaultAsk) (VaultAnswer, error)
}

// Asker is an app for which the node does what otherwise only the owner may ask for.
type Asker struct {
	App string
	Key string // the name of its key in policy rules, see policy.KeyOf
	// Fits reports which entries of the vault it may ask for.
	Fits func(*memory.Memory) bool
	// Scope is what the app may share, and BeforeSharing records what it is about to share.
	Scope         AppRequest
	BeforeSharing func(ctx context.Context, ids []memory.ID) error
}

type askerKey struct{}

// WithAsker returns a context in which an app asks for an entry of the vault, or shares.
func WithAsker(ctx context.Context, a *Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// Asking returns the app that asks, or nil.
func Asking(ctx context.Context) *Asker {
	a, _ := ctx.Value(askerKey{}).(*Asker)
	return a
}

// MaxVaultAsk is the maximum length of each text of a VaultAsk, in characters.
const MaxVaultAsk = 200

// VaultAsk asks for one reading of an entry of the vault.
type VaultAsk struct {
	Entry string `json:"entry"` // the label of the entry, or its id
	Why   string `json:"why"`   // what it is needed for; it is shown to the wearer
}

func (r *VaultAsk) check() error {
	for field, s := range map[string]string{"entry": r.Entry, "why": r.Why} {
		switch {
		case strings.TrimSpace(s) == "":
			return kindInvalid.problem(field, field+": missing")
		case !utf8.ValidString(s) || utf8.RuneCountInString(s) > MaxVaultAsk:
			return kindInvalid.problem(field, field+": want at most 200 characters of UTF-8")
		case strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }):
			return kindInvalid.problem(field, field+": want characters that can be seen, and spaces")
		}
	}
	return nil
}

// VaultAnswer is the answer to an app that asks for an entry of the vault.
type VaultAnswer struct {
	State  string    `json:"state" enum:"waits,given"` // waits: repeat the request with the same entry until the wearer has answered
	Lapses time.Time `json:"lapses,omitzero"`          // when the question expires without an answer
	Entry  *Revealed `json:"entry,omitempty"`          // with given: the entry, only this once

	Asked bool `json:"-"` // the question is new
}

// States of a VaultAnswer.
const (
	VaultWaits = "waits"
	VaultGiven = "given"
)

var vaultAskTopic = topic[VaultAsker]{askVault.untyped}

var askVault = jsonRoute(RightVault, spec{
	method: "POST", path: "/v1/vault/readings", id: "askVault",
	summary: "As an app, ask for one reading of a vault entry",
	about: "The wearer is asked (see the consents), and state is waits. To wait, repeat the same request: after a yes it returns the secret, once, only to this app and " +
		"within ten minutes. The answer does not reveal whether the entry exists.",
	gives: "The secret, or the state that the question still waits",
}, VaultAsker.AskVault)

// AskVault asks for one reading of an entry of the vault, as an app.
func (c *Client) AskVault(ctx context.Context, r VaultAsk) (VaultAnswer, error) {
	return call(ctx, c, askVault, r)
}
