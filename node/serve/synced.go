package serve

import (
	"context"
	"net/http"

	"github.com/locket-dev/locket/memory"
)

// MembersAnswer lists who belongs to the wearer's space.
type MembersAnswer struct {
	Members []Member `json:"members"`
}

// ConfirmRequest says whether both devices show the same words.
type ConfirmRequest struct {
	Same bool `json:"same"`
}

func (h *handler) syncStatus(r *http.Request) (any, error) { return h.Service.SyncStatus(r.Context()) }

func (h *handler) syncNow(r *http.Request) (any, error) { return h.Service.SyncNow(r.Context()) }

func (h *handler) members(r *http.Request) (any, error) {
	list, err := h.Service.Members(r.Context())
	return MembersAnswer{notNil(list)}, err
}

func (h *handler) removeMember(r *http.Request) (any, error) {
	var id memory.MemberID
	if err := id.UnmarshalText([]byte(r.PathValue("member"))); err != nil {
		return nil, err
	}
	var req RemoveMemberRequest
	if err := decodeBody(r, &req, true); err != nil {
		return nil, err
	}
	h.keys.Lock()
	defer h.keys.Unlock()
	return RemovedMember{id}, h.Service.RemoveMember(r.Context(), id, req.Phrase)
}

func (h *handler) pairInvite(r *http.Request) (any, error) { return h.Service.PairInvite(r.Context()) }

func (h *handler) pairWait(r *http.Request) (any, error) { return h.Service.PairWait(r.Context()) }

func (h *handler) pairConfirm(r *http.Request) (any, error) {
	var req ConfirmRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	return h.Service.PairConfirm(r.Context(), req.Same)
}

// SyncStatus tells how sync goes.
func (c *Client) SyncStatus(ctx context.Context) (v SyncStatus, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/sync", nil, nil, &v)
}

// SyncNow does one round.
func (c *Client) SyncNow(ctx context.Context) (v SyncStatus, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/sync", nil, nil, &v)
}

// Members lists who belongs to the wearer's space.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	var v MembersAnswer
	err := c.call(ctx, http.MethodGet, "/v1/members", nil, nil, &v)
	return v.Members, err
}

// RemoveMember puts one out.
func (c *Client) RemoveMember(ctx context.Context, id memory.MemberID, phrase Secret) error {
	var v RemovedMember
	return c.call(ctx, http.MethodDelete, "/v1/members/"+id.String(), nil, RemoveMemberRequest{phrase}, &v)
}

// PairInvite makes a code for a new device.
func (c *Client) PairInvite(ctx context.Context) (v Pairing, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/pairing", nil, nil, &v)
}

// PairWait waits for the new device.
func (c *Client) PairWait(ctx context.Context) (v Pairing, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/pairing", nil, nil, &v)
}

// PairConfirm says whether both devices show the same words.
func (c *Client) PairConfirm(ctx context.Context, same bool) (v Pairing, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/pairing/confirm", nil, ConfirmRequest{same}, &v)
}
