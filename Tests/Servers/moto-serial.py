"""moto's server, one request at a time: `moto-serial.py PORT`.

moto looks whether a condition holds, and puts the object, without a lock between both: of several writers two could win, and who loses
could be answered 500. What it stands in for does neither.
"""

import io
import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple
from werkzeug.wsgi import get_input_stream

moto = DomainDispatcherApplication(create_backend_app)
turn = threading.Lock()


def app(environ, start_response):
    # What is slow to come holds up nobody.
    environ["wsgi.input"] = io.BytesIO(get_input_stream(environ).read())
    with turn:
        return list(moto(environ, start_response))


run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=True, request_handler=MotoRequestHandler)
