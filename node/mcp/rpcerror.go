package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/locket-dev/locket/node/serve"
)

// Codes that JSON-RPC leaves to servers, as the official SDK in TypeScript has them.
const (
	codeRefused   = -32000 // by HTTP: its method, headers or size
	codeNoSession = -32001
)

// rpcErrors answers with errors of JSON-RPC 2.0 where the SDK writes plain text.
type rpcErrors struct {
	http.ResponseWriter
	body   []byte // of the request
	status int    // of an error whose text follows; 0: none
	newer  bool   // the host speaks a protocol from 2026-07-28 on
}

// withRPCErrors has a handler answer so. It reads the body of a POST for it.
func withRPCErrors(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := &rpcErrors{ResponseWriter: w, newer: r.Header.Get("MCP-Protocol-Version") >= since}
		if r.Method == http.MethodPost {
			var err error
			if e.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, serve.MaxBody)); err != nil {
				e.body = nil
				http.Error(e, err.Error(), http.StatusRequestEntityTooLarge)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(e.body))
			if !json.Valid(e.body) {
				e.write(http.StatusBadRequest, jsonrpc.CodeParseError, "the body is not JSON")
				return
			}
		}
		h.ServeHTTP(e, r)
	})
}

// Unwrap is for [http.ResponseController].
func (e *rpcErrors) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// WriteHeader keeps back the status of an error in plain text.
func (e *rpcErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(e.Header().Get("Content-Type"), "text/plain") {
		e.status = status
		return
	}
	e.ResponseWriter.WriteHeader(status)
}

func (e *rpcErrors) Write(b []byte) (int, error) {
	if e.status == 0 {
		return e.ResponseWriter.Write(b)
	}
	status, code, text := e.status, codeRefused, strings.TrimSpace(string(b))
	e.status = 0
	switch {
	case status >= http.StatusInternalServerError:
		code = jsonrpc.CodeInternalError
	case status == http.StatusNotFound:
		code = codeNoSession
	case strings.HasPrefix(text, "Accept must"):
		status = http.StatusNotAcceptable
	case strings.HasPrefix(text, "JSON RPC not handled: "):
		code, text = jsonrpc.CodeMethodNotFound, "there is no method "+strings.TrimSuffix(strings.TrimPrefix(text, "JSON RPC not handled: "), " unsupported")
		if !e.newer && e.id() != nil {
			status = http.StatusOK
		}
	case status == http.StatusBadRequest:
		code = jsonrpc.CodeInvalidRequest
	}
	e.write(status, code, text)
	return len(b), nil
}

// id gives that of the request: nil if it has none.
func (e *rpcErrors) id() any {
	var m struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(e.body, &m) != nil {
		return nil
	}
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// write answers with an error. It has the request's id where it is an answer as any other, and
// not what HTTP refused: the protocol says so.
func (e *rpcErrors) write(status, code int, text string) {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	var id any
	if status == http.StatusOK {
		id = e.id()
	}
	e.Header().Del("Content-Length")
	e.Header().Set("Content-Type", "application/json")
	e.ResponseWriter.WriteHeader(status)
	_ = json.NewEncoder(e.ResponseWriter).Encode(struct { // the host may have hung up
		JSONRPC string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   fault  `json:"error"`
	}{"2.0", id, fault{code, text}})
}
