package apps

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/delegate"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// CheckApp reports what is wrong with a request, as AddApp does, and fills in defaults.
func (b *Book) CheckApp(r *serve.AppRequest) error { return check(r, b.now()) }

// maxConsole is how long a key that opens the console may be valid.
const maxConsole = 90 * 24 * time.Hour

// checkConsole is check for a key that opens the console. Such a key allows everything
// that the page may do, so an app's scope has no meaning.
func checkConsole(r *serve.AppRequest, now time.Time) error {
	switch {
	case len(r.Can) != 1:
		return bad("can: console can't be combined with another right: it allows everything that the page may do")
	case len(r.Types) > 0 || r.Sensitivity != nil || len(r.Tags) > 0 || !r.Since.IsZero() || !r.Until.IsZero() || r.Owner != (memory.Owner{}) || r.Hook != "" || r.Buying != nil:
		return bad("can: console takes no scope: it shows everything that the page shows")
	case r.Delegate != 0:
		return bad("delegate: a key that opens the console can't be passed on")
	case r.Ends.IsZero() || !r.Ends.After(now) || r.Ends.Sub(now) > maxConsole:
		return bad("ends: a key that opens the console has to end within %d days", int(maxConsole.Hours())/24)
	}
	r.Types, r.Requests, r.Tokens = []string{}, serve.DefaultAppRequests, serve.DefaultAppTokens
	return nil
}

// bad returns the error for a field of a request that breaks a rule.
func bad(format string, a ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, a...)...)
}

// check returns an error if a request for a key breaks a rule, and fills in defaults.
func check(r *serve.AppRequest, now time.Time) error {
	if wire.CheckDevice(r.Name) != nil {
		return bad("name: want 1 to 32 of a-z, 0-9 and - (not first or last)")
	}
	if len(r.Can) == 0 {
		return bad("can: want one or more of read, add, update, forget, chat, buy, share and vault, or console")
	}
	if slices.Contains(r.Can, serve.RightConsole) {
		return checkConsole(r, now)
	}
	if err := checkRights(r); err != nil {
		return err
	}
	if err := checkTypes(r); err != nil {
		return err
	}
	if slices.Contains(r.Can, serve.RightBuy) != (r.Buying != nil) {
		return bad("buying: the right buy needs a market and a budget, and both need the right buy")
	}
	if r.Buying != nil {
		if err := checkBuying(r.Buying); err != nil {
			return bad("buying.%v", err)
		}
	}
	if err := mayHook(r); err != nil {
		return bad("hook: %v", err)
	}
	if err := checkTags(r); err != nil {
		return err
	}
	switch {
	case !r.Since.IsZero() && !r.Until.IsZero() && !r.Since.Before(r.Until):
		return bad("until: it is not after since")
	case !r.Ends.IsZero() && !r.Ends.After(now):
		return bad("ends: it is in the past")
	case r.Delegate < 0 || r.Delegate > delegate.MaxDepth:
		return bad("delegate: %d, want 1 to %d times", r.Delegate, delegate.MaxDepth)
	case r.Requests < 0 || r.Requests > maxRequests:
		return bad("requests: %d, want 1 to %d a minute", r.Requests, maxRequests)
	case r.Tokens < 0 || r.Tokens > maxTokens:
		return bad("tokens: %d, want 1 to %d a day", r.Tokens, maxTokens)
	}
	r.Requests = cmp.Or(r.Requests, serve.DefaultAppRequests)
	r.Tokens = cmp.Or(r.Tokens, serve.DefaultAppTokens)
	return nil
}

// checkRights checks what an app may do.
func checkRights(r *serve.AppRequest) error {
	for _, c := range r.Can {
		if !slices.Contains(serve.Rights[:], c) {
			return bad("can: %.40q: want read, add, update, forget, chat, buy, share or vault, or console alone", string(c))
		}
	}
	if slices.Contains(r.Can, serve.RightShare) && !slices.Contains(r.Can, serve.RightRead) {
		return bad("can: share needs read: an app may share only what it may see")
	}
	return nil
}

// checkTypes checks the types that an app may see, and their sensitivity.
func checkTypes(r *serve.AppRequest) error {
	if len(r.Types) == 0 && slices.ContainsFunc(r.Can, func(c serve.Right) bool { return c != serve.RightVault }) {
		return bad("types: want one or more of core, episodic, semantic, procedural, resource and utterances")
	}
	if r.Types == nil {
		r.Types = []string{}
	}
	if r.Sensitivity == nil {
		personal := memory.Personal
		r.Sensitivity = &personal
	}
	for _, t := range r.Types {
		switch {
		case t == string(memory.Vault):
			return bad("types: no app sees the vault")
		case t == serve.AppUtterances && (*r.Sensitivity < memory.Private || len(r.Tags) > 0):
			return bad("types: utterances need sensitivity private and no tags, because what was said has neither tags nor a sensitivity")
		case t != serve.AppUtterances && !slices.Contains(memory.Types[:], memory.Type(t)):
			return bad("types: %.40q: want core, episodic, semantic, procedural, resource or utterances", t)
		}
	}
	return nil
}

// checkTags checks the tags and the owner to which an app is restricted.
func checkTags(r *serve.AppRequest) error {
	if len(r.Tags) > maxTags {
		return bad("tags: %d, at most %d", len(r.Tags), maxTags)
	}
	for field, s := range map[string]string{"owner.user": r.Owner.User, "owner.agent": r.Owner.Agent, "owner.run": r.Owner.Run} {
		if len(s) > memory.MaxName {
			return bad("%s: %d bytes, at most %d", field, len(s), memory.MaxName)
		}
	}
	for _, t := range r.Tags {
		if t == "" || len(t) > memory.MaxName {
			return bad("tags: want 1 to %d bytes each", memory.MaxName)
		}
	}
	return nil
}
