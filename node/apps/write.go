package apps

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// writer is serve.Writer, for the owner and for apps. What an app writes has its name and
// the lowest rank, below what the wearer's devices heard and what the wearer said.
type writer struct {
	in     serve.Writer
	reader serve.Reader
}

// ownTags are tags that have a meaning for the node, in addition to those that begin with
// ownPrefix.
var ownTags = []string{"entity", "community", memory.WaitingTag, memory.HearsayTag, memory.KnownVoiceTag, "question", "answer", "secret", "transcript", "print", "caption", "sequence",
	"recording", "visit"}

const ownPrefix = "locket:"

func (w *writer) Resolve(ctx context.Context, text string) (memory.ID, error) {
	if v := visitOf(ctx); v != nil {
		return v.resolve(ctx, w.in, w.reader, text)
	}
	return w.in.Resolve(ctx, text)
}

func (w *writer) Add(ctx context.Context, r serve.AddRequest) (serve.AddResult, error) {
	v := visitOf(ctx)
	if v == nil {
		return w.in.Add(ctx, r)
	}
	if err := v.can(serve.RightAdd); err != nil {
		return serve.AddResult{}, v.deny(ctx, "addMemory", err)
	}
	if err := v.mayAdd(&r); err != nil {
		return serve.AddResult{}, v.deny(ctx, "addMemory", err)
	}
	done, err := v.writing(ctx)
	if err != nil {
		return serve.AddResult{}, err
	}
	defer done()
	if err := v.begin(); err != nil {
		return serve.AddResult{}, err
	}
	res, err := w.in.Add(ctx, r)
	if err != nil {
		return serve.AddResult{}, err
	}
	ids := make([]memory.ID, len(res.Changes))
	for i := range res.Changes {
		ids[i] = res.Changes[i].Memory
	}
	out := res
	out.Changes, out.Line = []memory.Change{}, memory.ID{}
	// The reason why a line is not new would reveal what was said to the wearer or shown to
	// others.
	out.Refusals = slices.DeleteFunc(slices.Clone(res.Refusals), func(r memory.Refusal) bool { return r.Kind == "feedback" || r.Kind == "duplicate" })
	for i := range out.Refusals {
		if r := &out.Refusals[i]; r.Kind == "instructions" { // its reason contains words of the instructions
			r.Reason = "the wearer's instructions leave such things out"
		}
	}
	if !res.Memory.IsZero() {
		if _, err := v.get(ctx, w.reader, res.Memory); err != nil {
			out.Memory = memory.ID{}
		}
	}
	for _, c := range res.Changes {
		m, err := v.get(ctx, w.reader, c.Memory)
		if err == nil {
			out.Changes = append(out.Changes, v.scope.change(c, &m))
		}
	}
	if len(out.Changes) == 0 { // the app may not see the known memory
		out.Left = nil
	}
	return out, v.wrote(ctx, "addMemory", ids...)
}

// mayAdd checks a text against the app's scope, and sets the app's owner.
func (v *visit) mayAdd(r *serve.AddRequest) error {
	s := &v.scope
	for _, o := range []struct {
		field string
		held  string
		given *string
	}{{"user", s.owner.User, &r.User}, {"agent", s.owner.Agent, &r.Agent}, {"run", s.owner.Run, &r.Run}} {
		if o.held == "" {
			continue
		}
		if *o.given != "" && *o.given != o.held {
			return refused("%s: app %s is restricted to %q", o.field, v.Name(), o.held)
		}
		*o.given = o.held
	}
	if r.Infers() {
		if len(s.tags) > 0 {
			return refused("infer: app %s is restricted to tags, so it may add memories only as they stand: set infer to false", v.Name())
		}
		if r.Keep && !slices.Contains(s.types, memory.Semantic) {
			return refused("keep: app %s may not write semantic memories, and a text that is kept as it stands becomes one", v.Name())
		}
		r.Types = append([]memory.Type{}, s.types...) // not nil, which would mean any
		return nil
	}
	t := cmp.Or(r.Type, memory.Semantic)
	if !slices.Contains(s.types, t) {
		return refused("type: app %s may not write %s memories", v.Name(), t)
	}
	if r.Sensitivity == nil {
		least := min(memory.Personal, s.most)
		r.Sensitivity = &least
	}
	if *r.Sensitivity > s.most {
		return refused("sensitivity: %s is more than app %s may see", *r.Sensitivity, v.Name())
	}
	if len(s.tags) == 1 && len(r.Tags) == 0 {
		r.Tags = []string{s.tags[0]}
	}
	if len(s.tags) > 0 && !slices.ContainsFunc(r.Tags, func(t string) bool { return slices.Contains(s.tags, t) }) {
		return refused("tags: app %s may add only what has one of its tags: %s", v.Name(), strings.Join(s.tags, ", "))
	}
	if err := refuseReferences(&r.Fields); err != nil {
		return err
	}
	return v.mayTag(r.Tags)
}

// refuseReferences refuses fields that refer to something in the store: with them an app could see
// another memory's photo through a memory of its own.
func refuseReferences(f *memory.Fields) error {
	if f != nil && (f.Resource != nil && f.Resource.Blob != "" || f.Vault != nil) {
		return refused("fields: an app may not name a photo, a recording or a secret")
	}
	return nil
}

// mayTag refuses tags that an app may neither set nor remove.
func (v *visit) mayTag(tags []string) error {
	for _, t := range tags {
		if is := strings.ToLower(strings.TrimSpace(t)); slices.Contains(ownTags, is) || strings.HasPrefix(is, ownPrefix) {
			return refused("tags: %q is reserved for the node", t)
		}
	}
	return nil
}

// Update lets an app correct what it wrote itself, as long as nobody else has said anything
// about it.
func (w *writer) Update(ctx context.Context, id memory.ID, p serve.UpdateRequest) (memory.Memory, error) {
	v := visitOf(ctx)
	if v == nil {
		return w.in.Update(ctx, id, p)
	}
	if err := v.can(serve.RightUpdate); err != nil {
		return memory.Memory{}, v.deny(ctx, "updateMemory", err)
	}
	m, err := v.get(ctx, w.reader, id)
	if err != nil {
		return memory.Memory{}, err
	}
	switch {
	case m.Source.App() != v.Name() || m.Rank != memory.RankCloud || m.Pinned:
		err = refused("app %s may change only what it wrote itself, as long as you have neither said nor pinned it", v.Name())
	case p.Sensitivity != nil && *p.Sensitivity > v.scope.most:
		err = refused("sensitivity: %s is more than app %s may see", *p.Sensitivity, v.Name())
	case len(p.Untag) > 0 && len(v.scope.tags) > 0:
		err = refused("untag: app %s is restricted to tags", v.Name())
	default:
		if err = refuseReferences(p.Fields); err == nil {
			err = v.mayTag(slices.Concat(p.Tag, p.Untag))
		}
	}
	if err != nil {
		return memory.Memory{}, v.deny(ctx, "updateMemory", err)
	}
	done, err := v.writing(ctx)
	if err != nil {
		return memory.Memory{}, err
	}
	defer done()
	if err := v.begin(); err != nil {
		return memory.Memory{}, err
	}
	if m, err = w.in.Update(ctx, id, p); err != nil {
		return memory.Memory{}, err
	}
	if err := v.wrote(ctx, "updateMemory", id); err != nil {
		return memory.Memory{}, err
	}
	if !v.scope.sees(&m) {
		return memory.Memory{}, missing(id.String())
	}
	return v.scope.show(m), nil
}

func (w *writer) Delete(ctx context.Context, ids ...memory.ID) error {
	v := visitOf(ctx)
	if v == nil {
		return w.in.Delete(ctx, ids...)
	}
	if err := v.can(serve.RightForget); err != nil {
		return v.deny(ctx, "deleteMemory", err)
	}
	for _, id := range ids {
		m, err := v.get(ctx, w.reader, id)
		if err != nil {
			return err
		}
		if m.Pinned {
			return v.deny(ctx, "deleteMemory", refused("you pinned it: only you can erase it"))
		}
	}
	done, err := v.writing(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := v.begin(); err != nil {
		return err
	}
	if err := w.in.Delete(ctx, ids...); err != nil {
		return err
	}
	return v.wrote(ctx, "deleteMemory", ids...)
}

// eraser is serve.Eraser, for the owner and for apps.
type eraser struct {
	in     serve.Writer
	reader serve.Reader
}

// Erase erases what an app sees among the memories that a filter finds. If the wearer
// pinned one of them, it erases none.
func (e *eraser) Erase(ctx context.Context, r serve.EraseRequest) (out serve.EraseAnswer, err error) {
	for range eraseTries {
		out, err = e.erase(ctx, r)
		if !errors.Is(err, memory.ErrNotFound) {
			break
		}
	}
	return out, err
}

// eraseTries is how often a filter is evaluated if memories vanish between the evaluation
// and the order to erase.
const eraseTries = 5

func (e *eraser) erase(ctx context.Context, r serve.EraseRequest) (out serve.EraseAnswer, err error) {
	const did = "deleteMemory"
	v, f := visitOf(ctx), r.Filters
	if v != nil {
		// The erased memories reveal what a filter finds, so the right to read is needed,
		// too.
		if err := errors.Join(v.can(serve.RightForget), v.can(serve.RightRead)); err != nil {
			return out, v.deny(ctx, did, err)
		}
		done, err := v.writing(ctx)
		if err != nil {
			return out, err
		}
		defer done()
		f = v.scope.asked(f)
	}
	for q := (serve.ListQuery{Filters: f, State: serve.AnyState, Limit: serve.MaxPage}); ; {
		page, err := e.reader.List(ctx, q)
		if err != nil {
			return out, err
		}
		for i := range page.Memories {
			if m := &page.Memories[i]; v != nil && m.Pinned {
				return serve.EraseAnswer{}, v.deny(ctx, did, refused("you pinned %s: only you can erase it, and nothing was erased", m.ID))
			} else if m.State != memory.Erased && (v == nil || v.scope.sees(m)) {
				out.Erased = append(out.Erased, m.ID)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if len(out.Erased) == 0 {
		return out, nil
	}
	if v != nil {
		if err := v.begin(); err != nil {
			return serve.EraseAnswer{}, err
		}
	}
	if err := e.in.Delete(ctx, out.Erased...); err != nil {
		return serve.EraseAnswer{}, err
	}
	for ids := range slices.Chunk(out.Erased, serve.MaxBatch) {
		if v != nil {
			err = errors.Join(err, v.wrote(ctx, did, slices.Clone(ids)...))
		}
	}
	return out, err
}

func (w *writer) Pin(ctx context.Context, id memory.ID, pinned bool) (memory.Memory, error) {
	return ownersBy(ctx, w.in.Pin, id, pinned)
}
