package apps

import (
	"context"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// vaultAsker is serve.VaultAsker for apps. The app sees nothing of the vault: it names
// an entry, and the wearer decides about each reading.
type vaultAsker struct{ in serve.VaultAsker }

func (a *vaultAsker) AskVault(ctx context.Context, r serve.VaultAsk) (out serve.VaultAnswer, err error) {
	v := visitOf(ctx)
	if v == nil {
		return out, fmt.Errorf("%w: these calls are for apps; you read with locket vault show", serve.ErrUnsupported)
	}
	if err := v.can(serve.RightVault); err != nil {
		return out, err
	}
	if len(v.via) > 0 { // the holder of a key that was passed on is not the app to which the wearer agreed
		return out, v.deny(ctx, "askVault", refused("a key that was passed on may not ask for the vault"))
	}
	if err := v.begin(); err != nil { // a key that is revoked meanwhile must not get anything
		return out, err
	}
	asker := &serve.Asker{App: v.Name(), Key: v.by.Key, Fits: v.scope.opens}
	if out, err = a.in.AskVault(serve.WithAsker(ctx, asker), r); err != nil {
		return out, v.deny(ctx, "askVault", err)
	}
	switch {
	case out.State == serve.VaultGiven:
		err = v.book.note(context.WithoutCancel(ctx), v, serve.AppUse{Did: "readVault", Shown: []memory.ID{out.Entry.ID}})
	case out.Asked:
		err = v.book.note(ctx, v, serve.AppUse{Did: "askVault"})
	}
	if err != nil {
		return serve.VaultAnswer{}, err
	}
	return out, nil
}

// opens reports whether the app may ask for an entry of the vault. Its types and its
// sensitivity do not apply to the vault.
func (s *scope) opens(m *memory.Memory) bool {
	if m.State == memory.Erased || m.Fields.Vault == nil || m.Cold {
		return false
	}
	if len(s.tags) > 0 && !slices.ContainsFunc(s.tags, func(t string) bool { return slices.Contains(m.Tags, t) }) {
		return false
	}
	return s.within(m.When()) && s.owns(m.Owner)
}
