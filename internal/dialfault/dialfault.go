// Package dialfault says in plain words why a service was not reached, or sends its caller elsewhere.
package dialfault

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// Words says why there was an error instead of an answer: nothing listens at an address, no host
// has the name, or otherwise the text of the innermost error. err must not be nil. The method and
// the path of a request are left out.
func Words(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return fmt.Sprintf("no host has the name %s", dns.Name)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" && op.Addr != nil {
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return fmt.Sprintf("nothing listens at %s", op.Addr)
		case op.Timeout():
			return fmt.Sprintf("%s can't be reached in time", op.Addr)
		}
		return fmt.Sprintf("%s can't be reached: %v", op.Addr, innermost(op.Err))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return "the connection broke"
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return err.Error()
}

// Elsewhere says where a redirect leads that is not followed. A password and the query are left
// out, because they may be secret.
func Elsewhere(res *http.Response) string {
	to, err := res.Location()
	if err != nil {
		return "it sends us elsewhere, but does not say where: " + res.Status
	}
	return fmt.Sprintf("it sends us to %s, where nothing was sent: %s", &url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}, res.Status)
}

func innermost(err error) error {
	for {
		in := errors.Unwrap(err)
		if in == nil {
			return err
		}
		err = in
	}
}
