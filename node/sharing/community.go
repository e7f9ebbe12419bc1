package sharing

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// root returns the key that founds this device's communities; the caller clears it. nil:
// nothing was shared yet.
func (sh *Sharing) root() ed25519.PrivateKey {
	key, ok := sh.c.Ring.Key(share.KeyName)
	if !ok {
		return nil
	}
	return share.Root(key)
}

func (sr Sharer) NewCommunity(ctx context.Context, r serve.NewCommunity) (serve.CommunityHead, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) (serve.CommunityHead, error) {
		relay, address := sh.c.Sync.Relay()
		if relay == nil {
			return serve.CommunityHead{}, exchange.ErrNoRelay
		}
		root := sh.root()
		defer clear(root)
		v, err := sh.c.Communities.FoundCommunity(ctx, community.Founder{Root: root, Recovery: sh.c.Ring.Public().Recovery, Relay: address, Invite: sh.c.Invite}, r)
		return v.CommunityHead, err
	})
}

func (sr Sharer) JoinCommunity(ctx context.Context, r serve.JoinCommunity) (serve.CommunityHead, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) (serve.CommunityHead, error) {
		v, err := sh.c.Communities.Join(ctx, r.Link, r.Name)
		return v.CommunityHead, err
	})
}

func (sr Sharer) Communities(ctx context.Context) ([]serve.CommunityHead, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) ([]serve.CommunityHead, error) {
		return sh.c.Communities.List(ctx)
	})
}

func (sr Sharer) Community(ctx context.Context, id string) (serve.CommunityView, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) (serve.CommunityView, error) {
		return sh.c.Communities.Show(ctx, id)
	})
}

func (sr Sharer) ReadKey(_ context.Context, r serve.GivenKeyText) (serve.GivenKey, error) {
	q, err := community.ReadKey(r.Key)
	if err != nil {
		return serve.GivenKey{}, err
	}
	return serve.GivenKey{Key: strings.Join(strings.Fields(r.Key), ""), Words: share.Words(q.Key)}, nil
}

func (sr Sharer) InviteTo(ctx context.Context, id string, r serve.CommunityInvite) (serve.CommunityView, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) (serve.CommunityView, error) {
		return sh.c.Communities.Invite(ctx, id, r)
	})
}

// communitySpec parses what is to be added to a community.
func communitySpec(r *serve.ShareRequest) (share.ShareSpec, error) {
	w, err := wishOf(r)
	if err == nil && (len(w.To) > 0 || !w.Expires.IsZero() || w.Title != "") {
		err = fmt.Errorf("%w: to, expires and title do not go with a community", memory.ErrInvalid)
	}
	return w, err
}

func (sr Sharer) PreviewCommunity(ctx context.Context, id string, r serve.ShareRequest) (serve.SharePreview, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, s *share.Sharing, sh *Sharing) (v serve.SharePreview, err error) {
		w, err := communitySpec(&r)
		if err != nil {
			return v, err
		}
		p, err := sh.c.Communities.Preview(ctx, s, id, w)
		if err != nil {
			return v, err
		}
		return sh.toAPI(ctx, &p)
	})
}

func (sr Sharer) AddToCommunity(ctx context.Context, id string, r serve.ShareRequest) (serve.CommunityView, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, s *share.Sharing, sh *Sharing) (v serve.CommunityView, err error) {
		w, err := communitySpec(&r)
		if err != nil {
			return v, err
		}
		return sh.c.Communities.Add(ctx, s, id, w)
	})
}

func (sr Sharer) RemoveFrom(ctx context.Context, id string, r serve.CommunityRemoval) (serve.CommunityView, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) (serve.CommunityView, error) {
		root := sh.root()
		defer clear(root)
		if err := sh.sayable(ctx, "reason", r.Reason); err != nil {
			return serve.CommunityView{}, err
		}
		return sh.c.Communities.Remove(ctx, id, r, root)
	})
}

func (sr Sharer) SetCommunityRules(ctx context.Context, id, text string) (serve.CommunityView, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) (serve.CommunityView, error) {
		if err := sh.sayable(ctx, "rules", text); err != nil {
			return serve.CommunityView{}, err
		}
		return sh.c.Communities.Rules(ctx, id, text)
	})
}

// sayable refuses a text for the members that contains a word which is never shared.
func (sh *Sharing) sayable(ctx context.Context, what, text string) error {
	rules, err := sh.allow(ctx)
	if err != nil {
		return err
	}
	return checkPublicText(rules.Never, what, text)
}

// NeverShared returns the words that are never shared.
func (sh *Sharing) NeverShared(ctx context.Context) ([]string, error) {
	rules, err := sh.allow(ctx)
	return rules.Never, err
}

// CheckPublicTexts refuses public texts that contain a word which is never shared.
func (sh *Sharing) CheckPublicTexts(ctx context.Context, public map[string][]string) error {
	rules, err := sh.allow(ctx)
	if err != nil {
		return err
	}
	for _, what := range slices.Sorted(maps.Keys(public)) {
		for _, text := range public[what] {
			if err := checkPublicText(rules.Never, what, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPublicText(never []string, what, text string) error {
	if share.NewRedactor(share.Redaction{Words: never}, share.Vocabulary{}, nil).Holds(text) {
		return fmt.Errorf("%w: %s: %.60q has a word of your never list", memory.ErrInvalid, what, text)
	}
	return nil
}

func (sr Sharer) AskCommunity(ctx context.Context, id, text string) (serve.CommunityView, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) (serve.CommunityView, error) {
		if err := sh.sayable(ctx, "question", text); err != nil {
			return serve.CommunityView{}, err
		}
		return sh.c.Communities.Ask(ctx, id, text)
	})
}

func (sr Sharer) AnswerCommunity(ctx context.Context, id string, r *serve.ShareRequest) (serve.CommunityHead, error) {
	return during(ctx, sr, notNeeded, func(ctx context.Context, s *share.Sharing, sh *Sharing) (serve.CommunityHead, error) {
		if r == nil {
			return sh.c.Communities.Answers(ctx, id, nil)
		}
		w, err := communitySpec(r)
		if err != nil {
			return serve.CommunityHead{}, err
		}
		v, err := sh.c.Communities.Answers(ctx, id, &w)
		if err == nil {
			sh.answerNow(v.ID, s)
		}
		return v, err
	})
}

// answerNow makes this node answer open questions of a community in the background,
// without waiting for the next maintenance.
func (sh *Sharing) answerNow(id memory.SpaceID, s *share.Sharing) {
	sh.c.Life.Start(func(ctx context.Context) {
		root := sh.root()
		defer clear(root)
		if err := sh.c.Communities.MaintainOne(ctx, id, s, root); err != nil && ctx.Err() == nil {
			sh.c.Log.Warn("a community's questions: will be tried again", "error", err)
		}
	})
}

func (sr Sharer) LeaveCommunity(ctx context.Context, id string) error {
	_, err := during(ctx, sr, notNeeded, func(ctx context.Context, _ *share.Sharing, sh *Sharing) (struct{}, error) {
		root := sh.root()
		defer clear(root)
		return struct{}{}, sh.c.Communities.Leave(ctx, id, root)
	})
	return err
}

// memberships returns the communities in the form that the policy needs.
func (sh *Sharing) memberships(ctx context.Context) (out []policy.Request, err error) {
	list, err := sh.c.Communities.List(ctx)
	for _, v := range list {
		if l, err := share.ParseLink(v.Link); err == nil && v.Ended.IsZero() {
			out = append(out, policy.Request{Action: policy.Share, Kind: policy.Community, Name: v.Name, Key: policy.KeyOf(l.Genesis[:])})
		}
	}
	return out, err
}
