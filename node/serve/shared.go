package serve

import (
	"context"
	"net/http"
	"net/url"
)

// SharesAnswer lists what is shared.
type SharesAnswer struct {
	Shares []Share `json:"shares"`
}

// GrantsAnswer lists the workers.
type GrantsAnswer struct {
	Grants []Grant `json:"grants"`
}

func (h *handler) previewShare(r *http.Request) (any, error) {
	var req ShareRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	p, err := h.Service.PreviewShare(r.Context(), req)
	p.Memories, p.Readers = notNil(p.Memories), notNil(p.Readers)
	return p, err
}

func (h *handler) createShare(w http.ResponseWriter, r *http.Request) error {
	var req ShareRequest
	if err := decodeBody(r, &req, false); err != nil {
		return err
	}
	made, err := h.Service.CreateShare(r.Context(), req)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, "application/json", made)
	return nil
}

func (h *handler) shares(r *http.Request) (any, error) {
	list, err := h.Service.Shares(r.Context())
	return SharesAnswer{notNil(list)}, err
}

func (h *handler) share(r *http.Request) (any, error) {
	v, err := h.Service.Share(r.Context(), r.PathValue("share"))
	v.Memories = notNil(v.Memories)
	return v, err
}

func (h *handler) updateShare(r *http.Request) (any, error) {
	return h.Service.UpdateShare(r.Context(), r.PathValue("share"))
}

func (h *handler) revokeShare(r *http.Request) (any, error) {
	return h.Service.RevokeShare(r.Context(), r.PathValue("share"), r.URL.Query().Get("reader"))
}

func (h *handler) addGrant(w http.ResponseWriter, r *http.Request) error {
	var req GrantRequest
	if err := decodeBody(r, &req, false); err != nil {
		return err
	}
	made, err := h.Service.AddGrant(r.Context(), req)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, "application/json", made)
	return nil
}

func (h *handler) grants(r *http.Request) (any, error) {
	list, err := h.Service.Grants(r.Context())
	return GrantsAnswer{notNil(list)}, err
}

func (h *handler) tendGrants(r *http.Request) (any, error) { return h.Service.TendGrants(r.Context()) }

func (h *handler) revokeGrant(r *http.Request) (any, error) {
	return h.Service.RevokeGrant(r.Context(), r.PathValue("grant"))
}

// PreviewShare shows what a share would give away.
func (c *Client) PreviewShare(ctx context.Context, r ShareRequest) (v SharePreview, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/shares/preview", nil, r, &v)
}

// CreateShare shares.
func (c *Client) CreateShare(ctx context.Context, r ShareRequest) (v Share, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/shares", nil, r, &v)
}

// Shares lists what is shared.
func (c *Client) Shares(ctx context.Context) ([]Share, error) {
	var v SharesAnswer
	err := c.call(ctx, http.MethodGet, "/v1/shares", nil, nil, &v)
	return v.Shares, err
}

// Share shows one as its readers see it.
func (c *Client) Share(ctx context.Context, id string) (v SharedView, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/shares/"+url.PathEscape(id), nil, nil, &v)
}

// UpdateShare fills one anew.
func (c *Client) UpdateShare(ctx context.Context, id string) (v ShareUpdated, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/shares/"+url.PathEscape(id)+"/update", nil, nil, &v)
}

// RevokeShare ends one, or puts one reader out.
func (c *Client) RevokeShare(ctx context.Context, id, reader string) (v Share, err error) {
	q := url.Values{}
	if reader != "" {
		q.Set("reader", reader)
	}
	return v, c.call(ctx, http.MethodDelete, "/v1/shares/"+url.PathEscape(id), q, nil, &v)
}

// AddGrant lets a worker in.
func (c *Client) AddGrant(ctx context.Context, r GrantRequest) (v Grant, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/grants", nil, r, &v)
}

// Grants lists the workers.
func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	var v GrantsAnswer
	err := c.call(ctx, http.MethodGet, "/v1/grants", nil, nil, &v)
	return v.Grants, err
}

// TendGrants fills feeds, and takes what workers said.
func (c *Client) TendGrants(ctx context.Context) (v FeedsTended, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/grants/tend", nil, nil, &v)
}

// RevokeGrant puts a worker out.
func (c *Client) RevokeGrant(ctx context.Context, who string) (v Grant, err error) {
	return v, c.call(ctx, http.MethodDelete, "/v1/grants/"+url.PathEscape(who), nil, nil, &v)
}
