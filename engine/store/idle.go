package store

// This file keeps a connection between two requests that follow one another: a
// short command's, or those that wait for a slot.

import (
	"sync"
	"time"
)

// idleFor is how long a connection is kept: a thousand runs of long commands are
// not to hold a thousand connections.
const idleFor = time.Second

// idle holds at most one connection. Its lock guards it and the timer that closes
// it.
type idle struct {
	mu     sync.Mutex
	client *client
	timer  *time.Timer
}

// keep takes a connection that nobody uses.
func (i *idle) keep(c *client) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.client != nil {
		_ = c.conn.Close()
		return
	}
	i.client = c
	if i.timer == nil {
		i.timer = time.AfterFunc(idleFor, i.close)
	} else {
		i.timer.Reset(idleFor)
	}
}

// take returns the connection to a host, nil where there is none that is open on
// the other side, too.
func (i *idle) take(host string) *client {
	i.mu.Lock()
	c := i.client
	i.client = nil
	i.mu.Unlock()
	if c == nil || c.host == host && isOpen(c.conn) {
		return c
	}
	_ = c.conn.Close()
	return nil
}

func (i *idle) close() {
	i.mu.Lock()
	c := i.client
	i.client = nil
	i.mu.Unlock()
	if c != nil {
		_ = c.conn.Close()
	}
}
