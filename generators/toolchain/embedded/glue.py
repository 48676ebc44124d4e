"""Rewriting `lean.js`: the export glue goes, hooks to the driver's functions come in.

Four fifths of the published script's start-up time are 201,108 statements of the form
`_x=Module["_x"]=wasmExports["x"]`, of which the rest of the script uses fifty. The hooks
are one-line replacements; what they call is written in `driver.js.j2`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from jinja2 import Environment, StrictUndefined, Template

_ASSIGNMENT = re.compile(
    r'(?:^|(?<=[;{}]))(_[A-Za-z0-9_$]+)=Module\["\1"\]=wasmExports\["([^"]+)"\](\.value)?;?'
)
_ASSIGN_ALL = "function assignWasmExports(wasmExports){"
_AFTER_ASSIGN_ALL = "}var wasmImports;"
_DRIVER_EXPORTS = re.compile(
    r"(main|__main_argc_argv|lean_[a-z0-9_]+|_ZN4lean8mk_cnstrEjjPP11lean_objectj)\Z"
)


class GlueError(ValueError):
    """The script is not laid out as the pinned package lays it out."""


def _first(call: str) -> str:
    """JavaScript that answers with `call` where it has an answer."""
    return f"var serqAnswer={call};if(serqAnswer!==undefined)return serqAnswer;"


# Each text occurs exactly once in the published script.
_HOOKS: tuple[tuple[str, str], ...] = (
    # Symbols: resolved by bisection in the shared file instead of a list of all exports per thread.
    ("updateGOT(origExports);", "serqCatchInside();serqResolveGOT();"),
    # Calls that may throw: in WebAssembly, see `invokes.py`.
    (
        "function getWasmImports(){assignWasmImports();",
        "function getWasmImports(){assignWasmImports();serqCatchOutside();",
    ),
    ("functionsInTableMap=new WeakMap;updateTableMap(0,wasmTable.length)", "functionsInTableMap=new WeakMap"),
    (
        "dynamicLibraries,sharedModules})}",
        "dynamicLibraries,sharedModules,serqSymbols:Module.serqSymbols})}",
    ),
    ('if(cmd==="load"){', 'if(cmd==="load"){Module.serqSymbols=msgData.serqSymbols;'),
    (
        "metadata.tlsExports.forEach(s=>tlsExports[s]=moduleExports[s]);",
        "metadata.tlsExports.forEach(s=>{if(moduleExports[s])tlsExports[s]=moduleExports[s]});",
    ),
    # Threads: the stack that deep terms need; one to begin with, since each takes 45 MB.
    ("var pthreadPoolSize=4;", "serqLoadSymbols();var pthreadPoolSize=1;"),
    (
        "worker=new Worker(pthreadMainJs,{",
        "worker=new Worker(pthreadMainJs,{resourceLimits:{stackSizeMb:serqConfig.stack_mb},",
    ),
    # Exit: back to the driver.
    ("var _exit=exitJS;", "var _exit=serqExit;"),
    (
        "return proxyToMainThread(1,0,0,returnCode);_exit(returnCode)}",
        "return proxyToMainThread(1,0,0,returnCode);Module.serqThreadExit=true;_exit(returnCode)}",
    ),
    # Files: compiled modules are read by the calling thread.
    (
        "function ___syscall_openat(dirfd,path,flags,varargs){",
        "function ___syscall_openat(dirfd,path,flags,varargs){" + _first("serqOpen(path,flags)"),
    ),
    (
        "function ___syscall_stat64(path,buf){",
        "function ___syscall_stat64(path,buf){" + _first("serqStat(path,buf)"),
    ),
    (
        "function ___syscall_fstat64(fd,buf){",
        "function ___syscall_fstat64(fd,buf){" + _first("serqStatFD(fd,buf)"),
    ),
    ("function _fd_close(fd){", "function _fd_close(fd){" + _first("serqClose(fd)")),
    (
        "function _fd_read(fd,iov,iovcnt,pnum){",
        "function _fd_read(fd,iov,iovcnt,pnum){" + _first("serqRead(fd,iov,iovcnt,pnum)"),
    ),
    (
        "function _fd_seek(fd,offset,whence,newOffset){",
        "function _fd_seek(fd,offset,whence,newOffset){" + _first("serqSeek(fd,offset,whence,newOffset)"),
    ),
    ("var response=await readAsync(binaryFile);", "var response=fs.readFileSync(binaryFile);"),
)
_DLSYM = re.compile(r"var __dlsym_js=\(handle,symbol,symbolIndex\)=>\{.*?__dlsym_js\.sig=", re.DOTALL)
_DLSYM_HOOK = "var __dlsym_js=serqDlsym;__dlsym_js.sig="


def driver_script(lean_js: str) -> tuple[str, set[str]]:
    """The driver around the shrunk script, and the export names the script uses; raises `GlueError`."""
    script, used = drop_export_glue(lean_js)
    return _template().render(lean_js=hooked(script)), used


def is_driver_export(name: str) -> bool:
    """Whether the driver calls the export."""
    return _DRIVER_EXPORTS.match(name) is not None


def drop_export_glue(script: str) -> tuple[str, set[str]]:
    """The script without unused export assignments, and the export names it still uses."""
    start, end = script.find(_ASSIGN_ALL), script.find(_AFTER_ASSIGN_ALL)
    declared = script.rfind(";var _", 0, max(start, 0)) + 1
    names, body = script[declared:start], script[start + len(_ASSIGN_ALL) : end]
    if start < 0 or end < start or not re.fullmatch(r"var [A-Za-z0-9_$,]+;", names):
        raise GlueError("the export declarations are not where they are expected")
    rest = script[:declared] + script[end:]
    words = set(re.findall(r"[A-Za-z_$][A-Za-z0-9_$]*", rest))
    kept = [m for m in _ASSIGNMENT.finditer(body) if m.group(1) in words]
    variables = [n for n in names[4:-1].split(",") if n in words]
    assignments = "".join(m.group(0).rstrip(";") + ";" for m in kept)
    head = f"var {','.join(variables)};{_ASSIGN_ALL}"
    shrunk = script[:declared] + head + _ASSIGNMENT.sub("", body) + assignments + script[end:]
    used = {m.group(2) for m in kept} | set(re.findall(r'wasmExports\["([^"]+)"\]', shrunk))
    return shrunk, used


def hooked(script: str) -> str:
    """The script with its hooks to the driver."""
    for text, replacement in _HOOKS:
        if script.count(text) != 1:
            raise GlueError(f"{script.count(text)} occurrences of {text!r}")
        script = script.replace(text, replacement)
    script, count = _DLSYM.subn(lambda _: _DLSYM_HOOK, script)
    if count != 1:
        raise GlueError(f"{count} definitions of dlsym")
    return script


@cache
def _template() -> Template:
    text = resources.files(__package__ or __name__).joinpath("driver.js.j2").read_text(encoding="utf-8")
    return Environment(undefined=StrictUndefined, autoescape=False).from_string(text)
