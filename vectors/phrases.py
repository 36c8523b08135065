"""Requests that users might make: templates with lists of words to fill in, and `requests.txt`. All of it is written for
this project."""

from pathlib import Path

# Fields: {noun}, {place}, {person}, {deed} (a verb's gloss), {thing} (a noun's gloss), {summary} (of a command),
# {operation} (of a library or service), {program} (a package's short description), {action} and {object} (below).
TEMPLATES = """
{action} {object}
{action} {object}
{action} {object}
{action} the {object} of this project
{action} {object} and {action} {object}
{action} every {object} that is older than a week
{action} all {object} below a directory
{action} the {object} on a remote machine
how can I {action} {object}?
how would I {action} {object} from a terminal
I would like to {action} {object}
is it possible to {action} {object} without touching {object}
{action} {object}, then {action} {object}
which command lets me {action} {object}
what do I run to {action} {object}
before I continue, {action} {object}
{action} {object} whose name contains {noun}
my {object} is broken, {action} it
why did the {object} disappear
where is the {object} kept
who changed the {object} last
{summary}
{summary} with {action} {object}
show how to {summary}
which command can {summary}
I have to {summary}
{summary}, then {action} {object}
{operation}
how can I {operation}
{operation} and {action} {object}
the goal is to {operation}
we need {program}
is there {program} for {noun}
suggest {program}
install {program}
{program} for people who {deed}
I am searching for {noun}
please look up {noun} for me
any advice on {noun} and {noun}?
compare {noun} with {noun}
what does {noun} mean
explain {thing}
describe {thing} to a child
I am curious about {thing}
draw {thing}
make a list of {noun} in {place}
what happened in {place} yesterday
book a table or a room in {place}
how is the weather in {place} this weekend
plan a journey from {place} to {place}
who was {person}
read something by {person}
write a letter to {person} about {noun}
try to {deed}
my task is to {deed}
could someone {deed} for us
teach me to {deed}
I forgot how to {deed}
remind everyone to {deed}
count the {noun} in my {noun}
turn my {noun} into {noun}
how much does {noun} cost at the moment
sell my {noun} and buy {noun}
track {noun} over time
summarise an article on {noun}
translate a text about {noun}
find pictures of {noun}
find a recipe with {noun}
find a job in {noun}
check the spelling of {noun}
solve an equation about {noun}
learn {noun} with exercises
listen to songs about {noun}
invest in {noun}
review a document on {noun} and list what is missing
make a chart of {noun} by {noun}
build a website about {noun}
""".strip().splitlines()

ACTIONS = """
abort, activate, add, allow, analyse, append, apply, approve, archive, assign, attach, back up, block, browse, build,
bundle, calculate, cancel, change, check, check out, clean up, clear, clone, close, collect, combine, compare, compile,
compress, configure, confirm, connect to, convert, copy, count, crack open, create, cut, decode, decompress, decrypt,
define, delete, deploy, describe, detach, detect, diagnose, disable, discard, disconnect, display, download, drop, dump,
duplicate, edit, eject, empty, enable, encode, encrypt, end, erase, estimate, evict, examine, execute, expand, explain,
export, expose, extract, fetch, filter, find, fix, flush, follow, force, format, forward, free, freeze, generate, get,
get rid of, go back to, grant, group, halt, hide, highlight, identify, import, inspect, install, interrupt, invoke, join,
keep, kill, label, launch, link, list, load, locate, lock, log, look at, look up, make, manage, measure, merge, migrate,
mirror, monitor, mount, move, name, notify, obtain, open, order, organise, outline, overwrite, pack, patch, pause, peek
at, pick, ping, pin, pipe, play, post, preview, print, probe, profile, prune, publish, pull, purge, push, put away, query,
quit, read, rebuild, receive, recompile, record, recover, redo, reduce, refresh, register, reject, release, reload,
remove, rename, render, repair, repeat, replace, report, reproduce, request, rerun, reset, resize, resolve, restart,
restore, restrict, resume, retrieve, retry, reverse, revert, review, rewind, roll back, rotate, run, save, scale, scan,
schedule, search, see, select, send, separate, serve, set, set up, share, show, shrink, shut down, sign, simulate, skip,
sort, split, stage, start, stop, store, strip, submit, substitute, summarise, suspend, swap, switch to, synchronise, tag,
tail, take apart, take back, terminate, test, throw away, tidy up, trace, track, transfer, transform, trigger, truncate,
try out, turn off, turn on, undo, uninstall, unlock, unmount, unpack, update, upgrade, upload, validate, verify, view,
wait for, wake, warn about, watch, wipe, withdraw, wrap, write, zip
"""

OBJECTS = """
access rights, account, address, alarm, alias, answer of a server, archive, argument, attachment, audio, author of a
line, available updates, backup, bandwidth, base image, battery, binary, bit rate, block device, bookmark, boot loader,
branch, broken link, browser, bug report, build, build artefacts, bytes, cache, calendar, certificate, change log,
changed files, changes, character encoding, checksum, clipboard, clock, cluster, code, code style, column of a table,
command history, comment, commit, commit message, comparison, compiler warnings, config map, configuration, conflict,
connection, console, container, contents of a file, cookie, copy, core dump, crash, credentials, cron job, current
directory, daemon, data, database, date, debug symbols, default value, delay, dependencies, deployment, description, desktop,
device, difference, directory, discussion, disk, disk space, distance, documentation, domain name, download, draft,
drive, driver, duplicate lines, duration, email, empty folder, endpoint, environment variable, error message, errors,
event, exit status, expired session, field, file, file name, file size, file system, firewall rule, firmware, folder,
font, form, formatting mistakes, free memory, function, game, graphics card, group of users, hard disk, hardware, hash,
header, help text, hidden files, history, home page, host name, image, inbox, index, input, installed software, interface,
interrupted transfer, issue, job, journal, kernel module, key, keyboard layout, kubernetes node, labels, language, last commit,
latest version, library, licence, line endings, lines, link, list of packages, load average, local edits, locale, location,
lock, log file, login, loop device, mailing list, manifest, manual, memory, merge request, message, metadata, microphone,
milestone, mistakes, mode, monitor, mount point, music, namespace, network, network interface, network traffic,
notification, number of words, object, old versions, open files, open port, operating system, output, owner, package,
page, parent folder, partition, password, patch, path, payload, pdf document, permission, photo, picture, pipeline,
plugin, pod, port, power, preferences, previous release, printer, process, processor, program, progress, project,
properties, proxy, public key, pull request, query, queue, reboot, recent activity, recording, redirect, registry,
regular expression, release, release notes, remote host, replicas, repository, request, resource, response, results,
reviewer, rights, root directory, route, row, running services, schedule, scheduled tasks, schema, screen, script, search
results, secret, section of a document, security holes, sensor, server, service, session, settings, shared library, shell,
shortcut, signature, snapshot, socket, software, sound, source code, speed of a connection, spelling, spreadsheet, staged files,
stale branches, standard input, startup time, state, statistics, status code, storage, stream, string, style problems,
submodule, subtitles, swap space, symbolic link, syntax error, system call, tab, table, tag, target, task, team, temperature,
template, temporary files, terminal, test, test results, text, thread, thumbnail, ticket, time, time zone, timer, title,
token, tool, trailing blanks, transaction, trash, tree, type of a file, uncommitted work, unit, unused images, unused packages,
upstream, uptime, url, usage, user, users who are logged in, value, variable, version, version number, video, virtual machine, volume,
vulnerability, warning, web page, website, wifi, window, wireless network, word, working copy, workflow, workload, workspace
"""


def operations_with_requests() -> list:
    """The descriptions of `requests.txt`, each with its requests."""
    found = []
    for line in (Path(__file__).parent / "requests.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            description, _, requests = line.partition(" = ")
            found.append((description, requests.split(" | ")))
    return found


def phrases(text: str) -> list:
    """The entries of a list that is separated by commas."""
    return [" ".join(entry.split()) for entry in text.split(",")]
