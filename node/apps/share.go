package apps

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// maxShares is how many active shares one app may have.
const maxShares = 20

// sharer is serve.Sharer, for the owner and for apps. An app shares what it may see
// itself. It sees and changes only the shares that it made. An app that is given the same
// name later gets none of them.
type sharer struct{ in serve.Sharer }

// shares returns the visit of an app that may share; nil: the owner asks.
func shares(ctx context.Context, did string) (*visit, error) {
	v := visitOf(ctx)
	if v == nil {
		return nil, nil
	}
	if err := v.can(serve.RightShare); err != nil {
		return nil, err
	}
	if len(v.via) > 0 {
		return nil, v.deny(ctx, did, refused("a key that was passed on may not share"))
	}
	return v, nil
}

func (s *sharer) CreateShare(ctx context.Context, r serve.ShareRequest) (out serve.Share, err error) {
	v, err := shares(ctx, "createShare")
	if err != nil {
		return out, err
	}
	if v == nil {
		return s.in.CreateShare(ctx, r)
	}
	if err := v.mayShare(&r); err != nil {
		return out, v.deny(ctx, "createShare", err)
	}
	own, err := s.own(ctx, v)
	if err != nil {
		return out, err
	}
	if n := len(slices.DeleteFunc(own, func(s serve.Share) bool { return !s.Revoked.IsZero() })); n >= maxShares {
		return out, fmt.Errorf("%w: %d shares of the app are read already", serve.ErrLimit, n)
	}
	if err := v.begin(); err != nil { // a key that is revoked meanwhile must not share
		return out, err
	}
	a := v.app
	asker := &serve.Asker{App: v.Name(), Key: v.by.Key,
		Scope: serve.AppRequest{Name: a.Name, Types: a.Types, Sensitivity: a.Sensitivity, Tags: a.Tags, Since: a.Since, Until: a.Until, Owner: a.Owner},
		BeforeSharing: func(ctx context.Context, ids []memory.ID) error {
			return v.book.note(ctx, v, serve.AppUse{Did: "createShare", Shown: ids})
		}}
	out, err = s.in.CreateShare(serve.WithAsker(ctx, asker), r)
	if errors.Is(err, memory.ErrNotFound) { // the reason would reveal something about what the app may not see
		err = fmt.Errorf("%w: nothing that the app may share fits", memory.ErrNotFound)
	}
	return out, err
}

// mayShare checks what an app asks to share. If the key expires, the share ends with it.
func (v *visit) mayShare(r *serve.ShareRequest) error {
	bad := func(field, why string) error { return fmt.Errorf("%w: %s: %s", memory.ErrInvalid, field, why) }
	switch {
	case r.Query != "":
		return bad("query", "an app may share only by types, tags and times: what a search finds also depends on memories that the app may not see")
	case r.Confirm != "":
		return bad("confirm", "an app may not ask for a preview")
	case r.AtLeast > 0:
		return bad("at_least", "only the owner may do this")
	case r.Quotes && !v.scope.lines:
		return refused("quotes: app %s does not see what was said", v.Name())
	}
	if end := v.app.Ends; !end.IsZero() && (r.Expires.IsZero() || r.Expires.After(end)) {
		r.Expires = end
	}
	return nil
}

// own returns the shares of an app.
func (s *sharer) own(ctx context.Context, v *visit) ([]serve.Share, error) {
	list, err := s.in.Shares(ctx)
	return slices.DeleteFunc(list, func(s serve.Share) bool { return s.App != v.Name() || s.AppKey != v.by.Key }), err
}

func (s *sharer) Shares(ctx context.Context) ([]serve.Share, error) {
	v, err := shares(ctx, "listShares")
	if err != nil {
		return nil, err
	}
	if v == nil {
		return s.in.Shares(ctx)
	}
	list, err := s.own(ctx, v)
	if err != nil {
		return nil, err
	}
	return list, v.book.note(ctx, v, serve.AppUse{Did: "listShares"})
}

func (s *sharer) RevokeShare(ctx context.Context, id, reader string) (out serve.Share, err error) {
	v, err := shares(ctx, "revokeShare")
	if err != nil {
		return out, err
	}
	if v == nil {
		return s.in.RevokeShare(ctx, id, reader)
	}
	own, err := s.own(ctx, v)
	if err != nil {
		return out, err
	}
	if !slices.ContainsFunc(own, func(s serve.Share) bool { return s.ID.String() == id }) {
		return out, fmt.Errorf("share %.60q: %w", id, memory.ErrNotFound)
	}
	if err := v.begin(); err != nil {
		return out, err
	}
	if out, err = s.in.RevokeShare(ctx, id, reader); err != nil {
		return out, err
	}
	return out, v.book.note(context.WithoutCancel(ctx), v, serve.AppUse{Did: "revokeShare"})
}

// Only the owner may use the rest.

func (s *sharer) PreviewShare(ctx context.Context, r serve.ShareRequest) (serve.SharePreview, error) {
	return owners(ctx, s.in.PreviewShare, r)
}

func (s *sharer) Share(ctx context.Context, id string) (serve.SharedView, error) {
	return owners(ctx, s.in.Share, id)
}

func (s *sharer) UpdateShare(ctx context.Context, id string) (serve.ShareUpdated, error) {
	return owners(ctx, s.in.UpdateShare, id)
}

func (s *sharer) ShareLog(ctx context.Context) (serve.ShareLog, error) {
	return ownersOf(ctx, s.in.ShareLog)
}
