"""Other frameworks that know devices and GPUs too."""

import jax
import jax.numpy as jnp
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)

strategy = tf.distribute.MirroredStrategy() if len(gpus) > 1 else tf.distribute.get_strategy()


@jax.jit
def step(weights, inputs):
    return jnp.tanh(inputs @ weights)


def run(key, width=128):
    device = jax.devices("cpu")[0]
    weights = jax.device_put(jax.random.normal(key, (width, width)), device)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(width, activation="relu")])
        model.compile(optimizer="adam", loss="mse", jit_compile=True)
    return step(weights, weights), model
