package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// How long the vault stays open.
const (
	DefaultVaultTTL = 5 * time.Minute
	MaxVaultTTL     = time.Hour
)

// MaxList is the most refusals or quarantined inputs in one answer.
const MaxList = 1000

func (h *handler) pause(r *http.Request) (any, error) {
	var req PauseRequest
	if err := decodeBody(r, &req, true); err != nil {
		return nil, err
	}
	var until time.Time
	if req.For > 0 {
		until = h.now().Add(time.Duration(req.For))
	}
	return h.Service.Pause(r.Context(), until)
}

func (h *handler) resume(r *http.Request) (any, error) {
	return h.Service.Resume(r.Context())
}

func (h *handler) lock(r *http.Request) (any, error) {
	return UnlockState{Locked: true}, h.Service.Lock(r.Context())
}

func (h *handler) unlock(r *http.Request) (any, error) {
	var req UnlockRequest
	if err := decodeBody(r, &req, true); err != nil {
		return nil, err
	}
	if req.TTL != 0 {
		return nil, kindInvalid.problem("ttl", "ttl: is for the vault")
	}
	h.keys.Lock()
	defer h.keys.Unlock()
	return UnlockState{}, h.Service.Unlock(r.Context(), req.Passphrase)
}

func (h *handler) unlockVault(r *http.Request) (any, error) {
	var req UnlockRequest
	if err := decodeBody(r, &req, true); err != nil {
		return nil, err
	}
	ttl := time.Duration(req.TTL)
	if ttl == 0 {
		ttl = DefaultVaultTTL
	}
	if ttl > MaxVaultTTL {
		return nil, kindInvalid.problem("ttl", "ttl: at most 1h")
	}
	h.keys.Lock()
	defer h.keys.Unlock()
	until := h.now().Add(ttl)
	return UnlockState{VaultUntil: until}, h.Service.UnlockVault(r.Context(), req.Passphrase, until)
}

func (h *handler) reveal(ctx context.Context, id memory.ID, _ *http.Request) (any, error) {
	return h.Service.Reveal(ctx, id)
}

// DevicesAnswer lists wearables.
type DevicesAnswer struct {
	Devices []Device `json:"devices"`
}

func (h *handler) devices(r *http.Request) (any, error) {
	list, err := h.Service.Devices(r.Context())
	return DevicesAnswer{notNil(list)}, err
}

// AddDeviceRequest names a new wearable.
type AddDeviceRequest struct {
	Name string `json:"name"`
}

func (h *handler) addDevice(w http.ResponseWriter, r *http.Request) error {
	var req AddDeviceRequest
	if err := decodeBody(r, &req, false); err != nil {
		return err
	}
	if wire.CheckDevice(req.Name) != nil {
		return kindInvalid.problem("name", "name: want 1 to 32 of a-z, 0-9 and -, which is neither first nor last, as it is part of a topic")
	}
	made, err := h.Service.AddDevice(r.Context(), req.Name)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, "application/json", made)
	return nil
}

// RemovedDevice is the answer to DELETE /v1/devices/{name}.
type RemovedDevice struct {
	Name string `json:"name"`
}

func (h *handler) removeDevice(r *http.Request) (any, error) {
	name := r.PathValue("name")
	return RemovedDevice{name}, h.Service.RemoveDevice(r.Context(), name)
}

func (h *handler) status(r *http.Request) (any, error) {
	s, err := h.Service.Status(r.Context())
	s.Plugins = notNil(s.Plugins)
	if s.Memories == nil {
		s.Memories = map[memory.Type]int{}
	}
	return s, err
}

func (h *handler) doctor(r *http.Request) (any, error) {
	p := readParams(r)
	verify := p.bool("verify")
	if p.err != nil {
		return nil, p.err
	}
	report, err := h.Service.Doctor(r.Context(), verify)
	report.Findings = notNil(report.Findings)
	return report, err
}

// RefusalsAnswer lists what was not remembered, newest first.
type RefusalsAnswer struct {
	Refusals []memory.Refusal `json:"refusals"`
}

func (h *handler) refusals(r *http.Request) (any, error) {
	p := readParams(r)
	limit := p.number("limit", DefaultPage, 1, MaxList)
	if p.err != nil {
		return nil, p.err
	}
	list, err := h.Service.Refusals(r.Context(), int(limit))
	return RefusalsAnswer{notNil(list)}, err
}

// QuarantineAnswer lists input that was set aside, newest first.
type QuarantineAnswer struct {
	Quarantine []Quarantined `json:"quarantine"`
}

func (h *handler) quarantine(r *http.Request) (any, error) {
	p := readParams(r)
	limit := p.number("limit", DefaultPage, 1, MaxList)
	if p.err != nil {
		return nil, p.err
	}
	list, err := h.Service.Quarantine(r.Context(), int(limit))
	return QuarantineAnswer{notNil(list)}, err
}
