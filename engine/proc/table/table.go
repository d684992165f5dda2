// Package table reads the table of processes: who is whose child, in which
// process group and session, and since when.
//
// It looks and does nothing else: it signals, waits for and reaps nothing, and
// keeps nothing between two looks. What it says may have changed by the time that
// it is read. Where there is no table (no /proc), List says so.
package table
