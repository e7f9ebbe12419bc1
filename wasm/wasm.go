// Package wasm runs extractor plugins: WebAssembly modules that are given an
// event and answer with candidates, and can do nothing else. The contract is
// in docs/wasm.md and package abi.
//
// A plugin runs in this process or apart from it, in the worker process of its
// publisher, which has the same code and is confined. A domain is the plugins
// of one publisher.
//
// A Host compiles and holds plugins. A Plugin is one module under one
// Manifest: its grants and limits. An instance is a plugin with a memory of
// its own; a plugin keeps a few, and replaces one after any fault. Fuel is
// what a call may spend; it is counted inside the module, by rewriting it.
// A fault is a call that failed by the plugin's doing, or its worker's.
//
// This is the only package that imports wazero.
package wasm

import (
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/wasm/abi"
)

// Why a module was not loaded.
var (
	ErrManifest  = errors.New("plugin manifest refused")
	ErrModule    = errors.New("plugin module refused")
	ErrImport    = errors.New("plugin imports what it may not have")
	ErrHash      = errors.New("plugin module is not the manifest's")
	ErrSignature = errors.New("plugin signature refused")
)

// Why a call failed. All but ErrDisabled, ErrKind, ErrInput, ErrPlugin,
// ErrClosed and ErrNoWorker are faults.
var (
	ErrFuel     = errors.New("out of fuel")
	ErrMemory   = errors.New("out of memory")
	ErrStack    = errors.New("calls nested too deep")
	ErrTime     = errors.New("out of time")
	ErrStarved  = errors.New("the machine was too busy to run it")
	ErrTrap     = errors.New("trapped")
	ErrOutput   = errors.New("output refused")
	ErrPlugin   = errors.New("plugin reports")
	ErrDisabled = errors.New("plugin is disabled")
	ErrKind     = errors.New("plugin does not take this kind of event")
	ErrInput    = errors.New("event is larger than a plugin may be given")
	ErrClosed   = errors.New("plugin host is closed")
	ErrWorker   = errors.New("worker process failed")
	ErrNoWorker = errors.New("this host has no worker processes")
)

// FaultKind names a fault in metrics.
type FaultKind string

// The faults.
const (
	FaultFuel   FaultKind = "fuel"
	FaultMemory FaultKind = "memory"
	FaultStack  FaultKind = "stack"
	FaultTime   FaultKind = "time"
	FaultTrap   FaultKind = "trap"
	FaultOutput FaultKind = "output"
	FaultWorker FaultKind = "worker" // its process ended, or broke the protocol
	// FaultStarved is a worker that others left no processor. It does not
	// count towards disabling the plugin; its worker is ended as one that is
	// late. Only the host says so.
	FaultStarved FaultKind = "starved"
)

var faultErrors = map[FaultKind]error{FaultFuel: ErrFuel, FaultMemory: ErrMemory, FaultStack: ErrStack,
	FaultTime: ErrTime, FaultTrap: ErrTrap, FaultOutput: ErrOutput, FaultWorker: ErrWorker, FaultStarved: ErrStarved}

// faultKinds in the order of their numbers between a host and its workers: what
// a worker may say of itself.
var faultKinds = []FaultKind{FaultFuel, FaultMemory, FaultStack, FaultTime, FaultTrap, FaultOutput, FaultWorker}

// Fault is a call that failed by the plugin's doing. It wraps the Err of its
// kind and, for an output that was refused, an *abi.Error with the place.
type Fault struct {
	Plugin   string
	Kind     FaultKind
	Detail   error // *abi.Error, or what the engine said; or nil
	Disabled bool  // this was one too many: the plugin is disabled
	// Ended is when its worker was ended for it; zero: it was not, or not here.
	Ended time.Time
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("plugin %s: %v", f.Plugin, faultErrors[f.Kind])
	if f.Detail != nil {
		s += ": " + f.Detail.Error()
	}
	if f.Disabled {
		s += "; it is disabled now"
	}
	return s
}

// Unwrap gives the sentinel of the kind and the detail.
func (f *Fault) Unwrap() []error {
	if f.Detail == nil {
		return []error{faultErrors[f.Kind]}
	}
	return []error{faultErrors[f.Kind], f.Detail}
}

// place makes an *abi.Error for an answer that decodes but can't be.
func place(code abi.Code, format string, a ...any) *abi.Error {
	return &abi.Error{Code: code, Place: fmt.Sprintf(format, a...)}
}
